"""Wrong uses of every program, and what the line that refuses each of them names; `tests/test_refusals.py` tries them.

A line is ``VARIABLES ARGUMENTS -> NAMED …``, in a shell's quoting. ``[A|B]`` is a line with A and one with B, which
``$`` stands for on the right. Words in braces are made by MAKERS of `made_files`. The working folder is empty.
"""

from __future__ import annotations

import re
import shlex
from typing import NamedTuple

# program -> wrong uses that end with code 2
BAD_USES = {
    "arena": """
        --bots [rule,ruel|ruel,rule],random -> ruel
        --bots [random,random|rule,rule,rule,rule|'"rule,random,random'] -> --bots $
        --bots exec:[no-such-program|''],random,random -> $
        --bots rule,exec:python my_bot.py,rule -> --bots 'rule,exec:python my_bot.py,rule'
        --bots=rule,rule,exec+kita:python my_bot.py --games 3 -> --bots 'rule,rule,exec+kita:python my_bot.py'
        --bots exec:"'unbalanced",random,random -> "exec:'unbalanced"
        --bots exec+kito:cat,random,random -> kito
        --bots [ws://localhost/x|mjsonp://|mjsonp://localhost/x?dialect=ruby|'mjsonp://localhost:1/a b'],rule,rule -> $
        --bots functionless,rule,rule -> functionless visiting-bots visiting_bots no_such_function
        --bots failing,rule,rule -> failing visiting-bots failing_bots.py 'line 2' RuntimeError 'no licence'
        --bots nobody,rule,rule -> nobody NoneType act
        --bots no_such.py:Bot,rule,rule -> no_such.py:Bot {here}/no_such.py
        --bots {bots}:[Eagre|number],rule,rule -> {bots} $ Eager,
        --bots {bots},rule,rule -> {bots} {bots}:Eager
        --bots {program}:,rule,rule -> {program} {program}:CLASS
        --bots {bots}:[Passive|Deep|Untitled|Slotted],rule,rule -> {bots}:$
        --bots {bots}:Eager:fast,rule,rule -> {bots}:Eager fast
        --bots {bots}:Broken,rule,rule -> {bots}:Broken 'line 28' ValueError 'need a model'
        --bots rule:7,rule,rule -> rule 7
        --bots random:,rule,rule -> random "''"
        --bots rule@[300|+300|-300.5|-99999|-0|0|-|abc|-٣٠٠|-300@-300|-300:fast],rule,rule -> rule@$ -300
        --bots [rule@|@-300|{bots}:Eager@abc|bert:{network}@300],rule,rule -> $ -300
        --bots [mortal|tsumogiri]@-100,rule,rule -> $
        --bots rule@-2000,rule,rule -> rule@-2000
        --bots {bots}:Leaving,rule,rule -> {bots}:Leaving 'line 33' SystemExit 'no network here'
        --bots {bots}:make:bad,rule,rule -> {bots}:make 'line 37' ValueError 'bad is no good'
        --bots {no_python}[:Bot|''],rule,rule -> {no_python} 'line 3' SyntaxError
        --bots {no_module}:Bot,rule,rule -> {no_module} 'line 1' ModuleNotFoundError nowhere
        --bots [~no_such_user/x.py|{long}.py]:Bot,rule,rule -> $
        --bots [linear|softmax|bert|cnn|residual]:~no_such_user/x,rule,rule -> ~no_such_user/x
        --bots [bert|residual]:~no_such_user/x@-100,rule,rule -> ~no_such_user/x
        --bots residual:{long}@-100,rule,rule -> {long}
        --bots [{long}|./my_bot|rule@300|nowhere.py:Bot],rule,rule -> $
        --bots bert:{network}?[heat|greedy]=1,rule,rule -> bert $ temperature
        --bots bert:{network}?=,rule,rule -> bert "''" temperature
        --bots bert:{network}?top=1&top=2,rule,rule -> bert top
        --bots bert:{network}?temperature[''|=-1|=nan|=inf|=hot|=1?top=1],rule,rule -> bert temperature$
        --bots bert:{network}?[top=47|top=-1|top=1.5|device=tpu],rule,rule -> bert $
        --bots cnn:[nowhere|{notes}],rule,rule -> $
        --bots cnn:?heat=1,rule,rule -> cnn heat
        --bots linear:nowhere.json,rule,rule -> linear nowhere.json
        --bots linear:start?temperature=1,rule,rule -> linear softmax
        --bots softmax:start?heat=1,rule,rule -> softmax heat temperature
        --bots softmax:start?temperature=-1,rule,rule -> softmax temperature=-1
        --bots [linear|softmax]:{no_json},rule,rule -> $ {no_json}
        --bots linear:[{deep_json}|{nothing}|{notes}],rule,rule -> linear $
        --bots search:model={no_archive},rule,rule -> {no_archive}
        --bots search:[n=0|ms=-1|k=9|margin=x|prior=0|trust=1.1|playouts=bert],rule,rule -> search $
        --bots search:[n=1&n=2|deep=1],rule,rule -> search
        --bots search:bot=tsumogiri,rule,rule -> search tsumogiri
        --games [0|many|10000001] -> --games $
        --jobs -1 -> --jobs -1
        --rules ruby -> --rules ruby tenhou majsoul
        --length west -> --length west east hanchan
        --timeout 0 -> --timeout 0
        --seed -1 -> --seed -1
        --walls shuffled -> --walls shuffled tenhou:SEED
        --walls tenhou[''|:1234|:mt19937ar,12|:mt19937ar-sha512-n288-base64,abcd] -> --walls seed
        --scores 25000,80000 -> --scores 25000,80000
        --scores 25000,35000,35000 -> --scores 25000,35000,35000 105000 95000
        --scores 25050,35000,44950 -> --scores 25050,35000,44950 25050
        --scores 35000,-100,70100 -> --scores 35000,-100,70100
        --json [/dev/null/results.json|/dev/null/a/b.json|.|{notes}] --bots rule,rule,rule -> --json $
        --[save|html|parquet] /dev/null/x -> --$ /dev/null/x
        --html . -> --html .
        --log logs --bots rule,rule,rule -> --log
        --decisions -> --decisions --parquet
        --sprt [0|0,x|0,0|0,0.02|0,nan|-0.02,0|-0.02,-0.01] -> --sprt $
        --sprt --until 1 -> --sprt
        --sprt 0,-0.02,[0.7,0.05|0.5,0.05|0.05,0] -> --sprt $
        --until [0|inf] -> --until $
        --until 0.1 --sprt 0,-0.02 -> --until --sprt
        --cluster head -> --cluster head
        NUKIDORA_CLUSTER=head -> NUKIDORA_CLUSTER head
        NUKIDORA_CLUSTER=localhost:6379 --bots mjsonp://localhost:9/x,rule,rule -> NUKIDORA_CLUSTER mjsonp://localhost:9/x
        --cluster localhost:6379 --bots mjsonp://localhost:9/x,rule,rule -> --cluster mjsonp://localhost:9/x
        [--swords|--versio] -> $
        leage --bots rule -> leage league
    """,
    "arena league": """
        --bots rule,random -> --bots 2
        --bots '' -> --bots
        --bots rule,random,rule -> --bots rule
        --bots rule,random,nobody -> nobody
        --bots exec:python bot.py,rule,random -> --bots 'exec:python bot.py,rule,random'
        --bots rule,random,tsumogiri --hours 1 --games 3 -> --hours --games
        --bots rule,random,tsumogiri --hours 0 -> --hours 0
        --bots rule,random,tsumogiri --games 10000001 -> --games 10000000
        --bots rule,random,tsumogiri --json [/dev/null/league.json|{notes}|{no_json}|{deep_json}] -> --json $
        --bots rule,random,tsumogiri --json {league} -> --json {league} seed
    """,
    "arena ladder": """
        --json l.json --output l.md --bots rule,random,nobody -> nobody
        --json l.json --output l.md --bots rule,random -> --bots 2
        --json l.json --output l.md --games 10000001 -> --games 10000000
        --json l.json --output l.md --bots rule,random,mjsonp://localhost/chair -> mjsonp://localhost/chair
        --json /dev/null/l.json --output l.md -> --json /dev/null/l.json
        --json l.json --output /dev/null/l.md -> --output /dev/null/l.md
        -> --json --output
    """,
    "arena calibrate": """
        mortal -> mortal
        rule@-300 -> rule@-300
        bert:~no_such_user/x -> ~no_such_user/x
        rule --plot x.svg -> --plot --check
        random --check -> random
        'exec:python bot.py' -> 'exec:python bot.py'
        rule --games [0|10000001] -> --games $
        -> BOT
    """,
    "arena balance": """
        --bots rule,efficiency -> --bots rule,efficiency
        --bots rule@200,efficiency,rule -> rule@200
        --bots rule@-2000,efficiency,rule -> rule@-2000
        --bots rule,efficiency,efficiency --json {notes} -> {notes}
        -> --bots
    """,
    "arena stats": """
        nowhere -> nowhere
        {record} --json [.|/dev/null/a.json] -> --json $
        {record} --html [.|/dev/null/a.html] -> --html $
        {record} --parquet [{notes}|/dev/null/rows] -> --parquet $
        {record} [--json|--html] {record} -> $ {record}
        {record} --room gold -> --room
        NUKIDORA_JOBS=0 {record} -> NUKIDORA_JOBS 0
        -> PATH
    """,
    "arena columns": """
        placement -> placement
    """,
    "server": """
        --fill rule,rule,rule -> --fill rule,rule,rule 2
        NUKIDORA_FILL=rule,rule,rule -> NUKIDORA_FILL rule,rule,rule 2
        NUKIDORA_PORT=x NUKIDORA_LENGTH=west --fill ruel -> --fill ruel NUKIDORA_PORT x NUKIDORA_LENGTH west
        --port 1 [--prot 8000|--prot=8000 token list] -> --prot --port
        --databse=postgresql://user:secret@host/name -> --databse database NUKIDORA_DATABASE [storage]
        [|token list|prune] --database=postgresql://user:secret@host/name -> --database NUKIDORA_DATABASE [storage]
        --seed 4 --length=east -> --seed NUKIDORA_SEED --length NUKIDORA_LENGTH [rooms] --settings
        prune --keep-days 5 -> --keep-days NUKIDORA_KEEP_DAYS [storage]
        --game 3 -> --game games NUKIDORA_GAMES
        [--xyzzy|--versio] -> $
        [NUKIDORA_ACESS|nukidora_acess]=token -> $ NUKIDORA_ACCESS
        [nukidora_port|Nukidora_Port|NUKIDORA_port]=1 -> $ NUKIDORA_PORT
        NUKIDORA_SETTING=nukidora.toml -> NUKIDORA_SETTING NUKIDORA_SETTINGS
        --settings [none.toml|.] -> $ --settings NUKIDORA_SETTINGS
        NUKIDORA_SETTINGS=none.toml -> none.toml --settings NUKIDORA_SETTINGS
        --settings {notes} token list -> {notes} TOML 'line 1'
        --settings {deep_toml} -> {deep_toml} TOML
        --settings -> --settings
        --settings {wrong_settings} token list -> {wrong_settings} [rooms] fill_dely fill_delay length '"west"' database
        --data {notes} -> {notes}
        --host [nobody.invalid|two..dots|203.0.113.1] --data {server_data} --port 0 --mjai-port 0 -> $ --host
        NUKIDORA_DATABASE=[mysql|postgresql+psycopg2]://u:secret@host/games --data {server_data} token list -> $
        NUKIDORA_DATABASE=[games.db|sqlite://|sqlite:///:memory:] --data {server_data} token list -> sqlite:///PATH
        NUKIDORA_DATABASE=postgresql://u:secret@host:port/x --data {server_data} token list -> sqlite:///PATH
        NUKIDORA_DATABASE=[sqlite:///{notes}|sqlite:///nowhere/a.db|sqlite:///.] --data {server_data} token list -> $
        --data {server_data} --port {taken_port} --mjai-port 0 -> {taken_port} --port
        --data {server_data} --port 0 --mjai-port {taken_port} -> {taken_port} --mjai-port
        token -> ACTION
        token give aki -> give
        token add -> NAME
        token add [''|' '|' pad '|{long}|'two\\nlines'|'rule (house)'|' (house)'] -> NAME $
        token revoke -> NAME
        backup -> FILE
        --data {server_data} backup {notes} -> {notes}
        --data {server_data} restore none.backup -> none.backup
        --data {server_data} restore {notes} -> {notes}
    """,
    "engine": """
        -> COMMAND
        valuate -> valuate
        validate {record} --versio -> --versio
        validate -> PATH
        validate nowhere -> nowhere
        validate . --rules chess -> --rules chess
        NUKIDORA_JOBS=[0|x] validate {record} -> NUKIDORA_JOBS $
        NUKIDORA_JOBS=x convert {archive} --out b.tar -> NUKIDORA_JOBS x
        validate . --json /dev/null/x.json -> --json /dev/null/x.json
        validate {record} --json {record} -> --json {record}
        validate {record} --room gold -> --room
        convert {archive} --out b.tar --since tomorrow -> --since tomorrow
        convert {archive} --out b.tar --room [kitchen|gold,silver] -> --room $
        convert {archive} --out b.tar --players 4 -> --players 4
        convert {archive} --out b.tar --rate -1 -> --rate -1
        convert nowhere out.json -> nowhere
        convert {record} out.doc -> out.doc
        convert {record} nowhere/out.json -> nowhere
        convert {record} -> --out
        convert {archive} --out . -> --out .: this is a folder
        convert {archive} --out nowhere/b.tar -> --out nowhere/b.tar
        convert {archive} --out b.rar -> b.rar
        convert {archive} --out no/b.tar -> no
        convert nowhere.zip --out b.tar -> nowhere.zip
        convert {archive} --out {notes} -> {notes}
        show nowhere -> nowhere
        show {record} --round 999 -> --round 999
        show {record} --round x -> --round x
    """,
    "agents.client": """
        mjsonp://localhost/x -> --exec
        rule mjsonp://localhost/x --log logs -> --log --exec
        rule mjsonp://localhost/x --timeout 5 -> --timeout --exec
        rule --exec cat mjsonp://localhost/x -> --exec
        ruel mjsonp://localhost/x -> ruel
        rule mjsonp://localhost/x --versio -> --versio
        rule [http://localhost/x|mjsonp://localhost:99999/x|mjsonp://localhost/a%20b|mjsonp://localhost/a/b] -> $
        rule mjsonp://localhost/x?dialect=ruby -> dialect mjai3p,
        --exec 'no-such-program x' mjsonp://localhost/x -> no-such-program
        rule --framing array mjsonp://localhost/x -> --framing --exec
        rule --games -1 mjsonp://localhost/x -> --games -1
        rule mjsonp://localhost/x --dialect=kita -> --dialect=kita
        NUKIDORA_PAUSE=soon rule mjsonp://localhost/x -> NUKIDORA_PAUSE soon
    """,
    "agents.console": """
        -> --bots
        {room} --bots rule,rule -> --bots
        --bots rule,rule,rule -> --bots rule,rule,rule
        --bots rule,ruel -> ruel
        --bots rule,exec:cat -> exec:cat
        --bots rule,rule [--name|--token] x -> $
        {room} [--seed 3|--length east|--pause 0] -> --bots
        {room} --name 'a\\nb' -> --name 'a\\nb'
        http://localhost/x -> http://localhost/x
        --bots rule,rule --save game.txt -> --save game.txt
        --bots rule,rule --save nowhere/game.mjson -> --save nowhere
        --bots rule,rule --length long -> --length long
        --bots tsumogiri,tsumogiri -> stdin stdout
        {room} -> stdin stdout
    """,
    "agents.review": """
        {record} -> --seat --player
        {record} --seat 3 -> --seat 3
        {record} --seat 0 --player A -> --player --seat
        {record} {record} --seat 0 -> --seat --player
        NUKIDORA_JOBS=x {record} --player A --bot rule -> NUKIDORA_JOBS x
        {record} --player A --format mjai-reviewer --json x -> --format --player
        {record} --player A --bot random -> random
        {record} --player 'no one' --bot rule -> --player 'no one'
        none.json --player A -> none.json
        {record} --seat 0 --bot nobody -> nobody
        {record} --seat 0 --bot random -> random
        {record} --seat 0 --bot exec:true -> exec:true
        none.json --seat 0 -> none.json
        {empty} --seat 0 -> {empty}
        {record} --seat 0 --json no/file -> --json no/file
        {record} --seat 0 --html . -> --html .
        {record} --seat 0 --bot rule --json /dev/full -> /dev/full
        {record} --seat 0 --format mjai-reviewer -> --format --json
        {record} --seat 0 --format mjai-reviewer --json x --bot rule --bot bert -> --format --bot
    """,
    "agents.analyse": """
        123p456s11z99m2256p --bot nobody -> nobody
        123p456s11z99m2256p --bot random -> random
        123p456s11z99m225p --bot rule -> hand 13
        11111z456s99m2256p --bot rule -> hand 1z
        123p456s11z99m2256x --bot rule -> hand x
        123p456s11z99m2256p --bot rule --seat N -> seat N
        123p456s11z99m2256p --bot rule --round E4 -> round E4
        123p456s11z99m2256p --bot rule --scores [1,2|a,b,c|'1,2,3,4'] -> scores $
        123p456s11z99m2256p --bot rule --scores 40000,40000,40000 -> scores 120,000
        123p456s11z99m2256p --bot rule --rivers 1z '' '' -> 'river of S'
        123p456s11z99m2256p --bot rule --honba x -> --honba x
        123p456s11z99m2256p --bot rule --json no/file -> --json no/file
        123p456s11z99m2256p --bot rule --json /dev/full -> /dev/full
    """,
    "agents.pack": """
        tsumogiri -o {empty} -> --output {empty}
        'exec:python bot.py' -o bot.pyz -> 'exec:python bot.py'
        mjsonp://localhost/room -o bot.pyz -> mjsonp://localhost/room
        nobody -o bot.pyz -> nobody
        nobody.py:Bot -o bot.pyz -> nobody.py:Bot
        {bots}:Nobody -o bot.pyz -> {bots} Nobody
        rule:7 -o bot.pyz -> rule 7
        rule -> --output
    """,
    "agents.linear": """
        export x.csv -> --records --selfplay
        export x.txt --selfplay rule,rule,rule -> x.txt .csv
        export x.csv --selfplay rule,rule,nobody -> nobody
        export x.csv --selfplay rule,rule -> --selfplay rule,rule
        export x.csv --records nowhere -> nowhere
        train out --data x.csv --selfplay rule,rule,rule -> --selfplay
        train out -> --data
        train out --data none.csv -> none.csv
        train {rl_run} --data none.csv -> {rl_run} agents.rl
        train {bert_run} --data none.csv -> {bert_run} agents.bert
        train out --data {no_parquet} -> {no_parquet}
        train out --data {notes} -> {notes}
        train out --data x.csv --set [margin=-1|temperature=0|epochs=1.5|loss=mean|seed=-1] -> --set $
        train out --data x.csv --set gamma=1 -> --set gamma margin
        train out --data x.csv --set start=[none.json|~no_such_user/x] -> $
        show [none.json|~no_such_user/x] -> $
        show {no_json} -> {no_json}
        agreement rule -> --records --selfplay
        agreement nobody --selfplay rule,rule,rule -> nobody
        -> COMMAND
    """,
    "agents.rl train": """
        out --set handicaps=35000-35000-35000,1-2 -> --set handicaps 1-2
        out --set handicaps=100-100-100 -> --set handicaps 105000
        out --set [against=1.5|learning_rate=0|gae_lambda=2|tables=0|width=1025|critic_sees=all|kl=-1] -> --set $
        out --set [gamma=1|''|bot=residual] -> --set gae_lambda
        out --set tables -> --set tables=1024
        out --set [measure_against|opponents]= -> --set $
        out --bot bert -> --bot bert
        out --set [measure_against|opponents]=nobody -> nobody
        out --start {notes} -> {notes}
        {linear_run} -> {linear_run} agents.linear
        {bert_run} -> {bert_run} agents.bert
        out --device abacus -> abacus
        NUKIDORA_CLUSTER=head out -> NUKIDORA_CLUSTER head
        out --set former_every=1 --set against=0 -> against former_every
        out --set former_every=1 --set iterations=5 -> former_every iterations
        out --anchor nowhere -> anchor kl_start
        out --anchor nowhere --set kl_start=0.1 -> nowhere
    """,
    "agents.search fit": """
        nowhere/model.npz -> nowhere
        model.npz --selfplay rule,rule,nobody -> nobody
        model.npz --games 0 -> --games 0
    """,
    "agents.bert": """
        teach -> teach
        data out --versio -> --versio
        data out -> --records --selfplay
        data out --selfplay rule,ruel,rule -> ruel
        data out --selfplay rule,rule -> --selfplay rule,rule
        data out --selfplay '"rule,rule,rule' -> --selfplay '"rule,rule,rule'
        data out --selfplay rule,rule,rule --games 0 -> --games 0
        data out --selfplay rule,rule,rule --teacher nobody -> nobody
        data out --selfplay rule,rule,rule --rollouts 2 -> --rollouts --teacher
        data out --selfplay random,random,random --teacher rule --rollouts 2 -> --rollouts
        data out --selfplay rule,rule,rule --playouts softmax -> --playouts --rollouts
        data out --selfplay rule,rule,rule --hard-examples -> --hard-examples --teacher
        data out --selfplay random,random,random --teacher rule --hard-examples -> --hard-examples
        data out --selfplay rule,rule,rule --teacher rule --hard-examples --records games -> --records
        data out --selfplay rule,rule,rule --hard-examples --rollouts 2 -> --hard-examples --rollouts
        data out --selfplay rule,rule,rule --decisions [''|al|winners:1|rank|rank:0|rank:4] -> $
        data out --selfplay rule,rule,rule --decisions [player|player:|player:me] -> $
        data out --records /nowhere -> /nowhere
        NUKIDORA_JOBS=x data out --selfplay rule,rule,rule -> NUKIDORA_JOBS x
        NUKIDORA_CLUSTER=head data out --selfplay rule,rule,rule -> NUKIDORA_CLUSTER head
        data out --records . -> .
        data /dev/null/data --selfplay rule,rule,rule -> /dev/null/data
        data {texts} --selfplay rule,rule,rule -> {texts} notes.md
        data [{no_manifest}|{bad_manifest}] --selfplay rule,rule,rule -> $ manifest.json
        train nowhere out -> nowhere
        [train|pretrain] {data} {linear_run} -> {linear_run} agents.linear
        train {data} {rl_run} -> {rl_run} agents.rl
        train {data} out --wrong -> --wrong
        train {data} out --from huge -> huge
        improve {data} out --from micro -> micro
        improve {data} out -> --from
        pretrain {data} out --from dwarf -> dwarf cnn
        train {data} out --set [learning_rate=0|eval_steps=0|seed=-1|weight_decay=-1|value_weight=nan] -> --set $
        train {data} out --set [patience=-1|epochs=x|augment=maybe] -> --set $
        train {data} out --set [warmth=1|=1|''|data=x] -> --set epochs
        train {data} out --set epochs -> --set epochs=1.0
        pretrain {data} out --set value_weight=1 -> --set value_weight
        [pretrain|improve] {data} out --from {network} --set teacher={network} -> --set teacher
        train {data} out --set teacher=[nowhere|micro] -> $
        train {data} out --minutes [0|x] -> --minutes $
        train {data} out --minutes 1 --steps 2 -> --minutes --steps
        pretrain -> DATA, OUT
        evaluate {network} -> --data --records
        evaluate {network} [--data|--records] {empty} -> {empty}
        evaluate {network} --records {empty}/none.mjson -> {empty}/none.mjson
        evaluate {empty} --records {empty} -> {empty}
        evaluate {network} --data {data} --samples 0 -> --samples 0
        evaluate {network} --data {data} --json [{empty}|{empty}/a/b] -> --json $
        export [{empty}|nowhere|{notes}] -> $ config.json
        export [{broken_bert}|{broken_cnn}] -> $
        average {network} mean -> two
        average {network} {dwarf} mean -> {dwarf}
        average {network} {small} mean -> {network} {small}
        average {network} micro mean -> micro
        average {network} none mean -> none
        deepen micro deeper --layers 9 -> micro
        deepen {empty} deeper --layers 9 -> {empty}
        deepen {dwarf} deeper --layers 4 -> {dwarf} cnn
        deepen {network} deeper --layers [1|2] -> $
    """,
    "agents.bert.play": """
        -> MODEL_PATH
        --port x model -> --port x
        --port 99999 model -> --port 99999
        --room a/b model -> a/b
        --host '' model -> room
        model --wrong -> --wrong
    """,
    "benchmarks.bert": """
        --model huge -> --model huge micro
        --model {empty} -> {empty} config.json
        --device tpu -> --device tpu
    """,
    "benchmarks.engine": "--json nowhere/x.json -> --json nowhere",
    "benchmarks.server": """
        --games 1,x -> --games x
        --transports tcp,pigeon -> --transports pigeon
        --seconds 0 -> --seconds 0
    """,
    "benchmarks.web": "--repeats 0 -> --repeats 0",
    "benchmarks.records": "--copies none -> --copies none",
    "benchmarks.envs": "--num-envs 0 -> --num-envs 0",
    "benchmarks.compiling": "--rows 0 -> --rows 0",
    "benchmarks.cluster": "--games 0 -> --games 0",
    "benchmarks.start": """
        HEAD -> baseline
        HEAD HEAD --rounds 0 -> --rounds 0
    """,
    "tests.faults.run": """
        nowhere -> nowhere
        --jobs 0 -> --jobs 0
        cli --json {notes} -> --json {notes}
        cli --json nowhere/x.json -> --json nowhere
    """,
    "agents.search": "guess -> guess",
    "engine.warm_up": "--wrong -> --wrong",
    "benchmarks.arena": "--wrong -> --wrong",
    "benchmarks.bots": "--wrong -> --wrong",
    "benchmarks.playouts": "--wrong -> --wrong",
    "benchmarks.search": "--wrong -> --wrong",
    "benchmarks.rl": "--wrong -> --wrong",
}  # fmt: skip

# settings of the server and wrong values, which are refused in the words of its flags and of its variables
SETTINGS = """
    rules=ema length=west games=-1 games=many games=1000001 seats=drawn scores=25000,35000,35000 scores=25000,80000
    scores=25050,35000,44950 scores=-100,35000,70100 seed=18446744073709551616 decision_time=0 decision_time=nan
    decision_time=3601 bank_time=-0.1 fill=rule,nobody fill_delay=soon fill_delay=inf house_bot=nobody max_faults=0
    house_bot=rule@300 resume_timeout=nan fault_penalty=inf spectator_delay=-1 pause=61 port=65536 mjai_port=http
    access=closed max_rooms=0 max_connections=2 connections_per_address=0 joins_per_minute=1.5 requests_per_minute=0
    downloads_per_minute=-1 join_timeout=0 log=xml rated=maybe hints=2 wait_timeout=-1 idle=sleep public_port=-1
    rooms_per_address=0 messages_per_second=0 annotations_per_minute=0 keep_days=-1 keep_games=1.5 keep_mib=1000001
    puzzle_records=nowhere
"""

# program -> wrong uses that end with code 1: what is asked for is understood, and fails
FAILURES = {
    "server": "token revoke nobody --data {server_data} -> nobody",
    "engine": """
        show {cut} -> {cut} line
        convert {cut} out.json -> {cut} line
        show {archive} -> {archive} {archive}:one.mjson
        show {archive}:three -> {archive}:three
    """,
    "agents.review": """
        {no_json} --seat 0 -> {no_json} line
        {nothing} --seat 0 -> {nothing}
        {four} --seat 0 -> {four} three-player
    """,
}
FLAGS = ("--host", "--port", "--mjai-port", "--data", "--fill")
CHOICE = re.compile(r"\[([^][]+)\]")


class Refusal(NamedTuple):
    """A wrong use of a program: environment variables, arguments, the exit code and what the line names."""

    program: str
    variables: dict[str, str]
    arguments: list[str]
    code: int
    named: list[str]

    def __str__(self) -> str:
        """For the name of the test."""
        return shlex.join(
            [*(f"{name}={value}" for name, value in self.variables.items()), self.program, *self.arguments]
        )


def rows(program: str, table: str, code: int) -> list[Refusal]:
    """The wrong uses of a table."""
    found = []
    for line in filter(None, map(str.strip, table.splitlines())):
        use, _, named = f" {line}".partition(" -> ")
        if choice := CHOICE.search(use):
            lines = (use.replace(choice[0], each) + " -> " + named.replace("$", each) for each in choice[1].split("|"))
            found += rows(program, "\n".join(lines), code)
            continue
        words = [word.encode().decode("unicode_escape") if "\\" in word else word for word in shlex.split(use)]
        variables = dict(word.split("=", 1) for word in words if re.match(r"nukidora_\w+=", word, re.IGNORECASE))
        arguments = [word for word in words if word.partition("=")[0] not in variables]
        found.append(Refusal(program, variables, arguments, code, shlex.split(named)))
    return found


def of_settings() -> list[Refusal]:
    """The wrong values of SETTINGS, each as a variable, and as a flag if there is one."""
    found = []
    for pair in SETTINGS.split():
        name, _, value = pair.partition("=")
        flag, variable = f"--{name.replace('_', '-')}", f"NUKIDORA_{name.upper()}"
        if flag in FLAGS:
            found.append(Refusal("server", {}, [f"{flag}={value}"], 2, [flag, value]))
        found.append(Refusal("server", {variable: value}, [], 2, [variable, value]))
    return found


REFUSALS = [
    *(row for program, table in BAD_USES.items() for row in rows(program, table, 2)),
    *(row for program, table in FAILURES.items() for row in rows(program, table, 1)),
    *of_settings(),
]
