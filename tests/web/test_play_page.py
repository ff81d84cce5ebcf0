"""A person plays in the browser: whole games on a server, and single situations at a scripted one."""

from __future__ import annotations

import gzip
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext, Page, WebSocketRoute, expect

from engine.common.error_text import error_text
from tests.support.accessibility import serious_faults
from tests.support.server_program import REPOSITORY
from tests.web.conftest import Site, both_sizes, phone_at_length, set_name
from tests.web.play_driver import Person, open_room
from tests.web.scripted_table import HIDDEN, ScriptedTable

ENABLED = "nuki-table button:not(:disabled)"


def check_record(site: Site, page: Page, name: str, folder: Path) -> None:
    """The game that the page shows as over is stored, its record is valid, and the person has made no fault."""
    path = str(
        page.locator(".play-dialog a[href$='#seat=0'], .play-dialog a[href*='#seat=']").last.get_attribute("href")
    )
    game = path.partition("#")[0]
    record = site.response(f"/api{game}/record").raise_for_status()
    file = folder / "record.mjson.gz"
    file.write_bytes(record.content)
    command = [sys.executable, "-m", "engine", "validate", str(file)]
    done = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    messages = [json.loads(line) for line in gzip.decompress(record.content).splitlines()]
    assert name in messages[0]["names"]
    assert [message for message in messages if message["type"] == "error"] == []


def table(page: Page) -> list[str]:
    """What the table shows: its tiles and texts, but for the clock, which goes on."""
    tiles = "each => each.map((tile) => tile.dataset.tile)"
    text = re.sub(r"\d+ \+ \d+$", "", page.locator("nuki-table .board").inner_text(), flags=re.MULTILINE)
    return [text, *page.locator("nuki-table .tile").evaluate_all(tiles)]


@both_sizes
def test_a_game_is_played_by_clicking(
    page: Page, context: BrowserContext, site: Site, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    """In between the page is loaded again, and the connection lost: nothing of the game is."""
    room = f"click-{request.node.callspec.id}"
    set_name(page, room)
    page.goto(open_room(site, room), referer=f"{site.url}/rooms")
    person = Person(page)
    assert not person.play(8)
    person.reach_a_discard()
    before = table(page)
    page.reload()
    page.wait_for_selector(ENABLED)
    assert table(page) == before
    assert not person.play(8)
    context.set_offline(True)
    expect(page.locator(".play-note")).to_contain_text("connection is lost")
    context.set_offline(False)
    assert person.play()
    expect(page.locator(".play-dialog tr.result-own")).to_contain_text(room)
    assert person.did["discard"] >= 10
    check_record(site, page, room, tmp_path)
    page.reload()
    expect(page.locator(".play-dialog tr.result-own")).to_contain_text(room)
    page.get_by_role("button", name="Play again").click()  # the room has been closed, and is opened again
    person.reach_a_discard()


ABORTED = {
    "reason": "sukaikan", "tenpais": [False] * 3, "tehais": [HIDDEN] * 3, "deltas": [0] * 3, "scores": [35000] * 3,
}  # fmt: skip
RUNS = ["1p", "2p", "3p", "4p", "5p", "6p", "7p", "8p", "9p", "1s", "1s"]  # with 2s 3s: waits for 1s and 4s


def test_a_round_is_played_by_keys_alone(page: Page, site: Site) -> None:
    set_name(page, "keys")
    page.goto(open_room(site, "keys-room"), referer=f"{site.url}/rooms")
    person = Person(page, keyboard=True)
    while person.step() != "result":
        assert sum(person.did.values()) < 100
    assert person.did["discard"] > 3
    person.step()
    expect(page.locator(".play-dialog[open]")).to_have_count(0)


def test_a_lost_reply_is_sent_again(page: Page, site: Site) -> None:
    """The connection breaks while the first discard is on its way: it is played all the same, and once."""
    lost: list[str] = []
    replies: list[str] = []

    def proxy(socket: WebSocketRoute) -> None:
        server = socket.connect_to_server()

        def to_server(data: str | bytes) -> None:
            if '"dahai"' in str(data) and not lost:
                lost.append(str(data))
                socket.close()
                server.close()
                return
            replies.append(str(data))
            server.send(data)

        socket.on_message(to_server)

    page.route_web_socket("**/mjai/**", proxy)
    set_name(page, "loser")
    page.goto(open_room(site, "lost-reply"), referer=f"{site.url}/rooms")
    person = Person(page)
    while not person.did["discard"]:  # `lost` is filled somewhat later
        person.step()
    expect(page.locator("nuki-table .seat.bottom .river .tile")).to_have_count(1)
    assert replies.count(lost[0]) == 1  # the same tile may be drawn and discarded again later
    assert not person.play(4)
    expect(page.locator(".error")).to_have_count(0)


def test_riichi_offers_the_discards_that_keep_tenpai(scripted: ScriptedTable, page: Page) -> None:
    scripted.begin([*RUNS, "2s", "3s"])
    scripted.draw("5s", {"type": "reach"})
    expect(page.locator(ENABLED)).to_have_count(14)
    assert serious_faults(page) == []
    page.get_by_role("button", name="Riichi").click()
    tiles = page.locator(f"{ENABLED} .tile")
    expect(tiles).to_have_count(4)
    assert tiles.evaluate_all("each => each.map((tile) => tile.dataset.tile)") == ["1s", "1s", "2s", "5s"]
    page.get_by_role("button", name="Cancel").click()
    expect(page.locator(ENABLED)).to_have_count(14)
    page.keyboard.press("r")
    page.locator(f"{ENABLED}.drawn").hover()
    expect(page.locator(".wait")).to_have_text(["×2", "×4"])  # 1s and 4s
    page.locator(ENABLED).nth(2).click()
    expect(page.locator(ENABLED)).to_have_count(0)
    assert scripted.replies == [{"type": "reach", "actor": 0}]
    scripted.say("reach", actor=0, cannot_dahai=[*RUNS[:9], "3s"], can_act=True)
    scripted.say("dahai", actor=0, pai="2s", tsumogiri=False)
    expect(page.locator("nuki-table .seat.bottom .river .tile")).to_have_count(1)
    assert scripted.replies[1:] == [{"type": "dahai", "actor": 0, "pai": "2s", "tsumogiri": False}]


def test_screen_readers_are_told_of_the_own_actions_in_the_second_person(scripted: ScriptedTable, page: Page) -> None:
    scripted.begin([*RUNS, "2s", "3s"], honba=2)
    told = page.locator("nuki-table [aria-live]")
    expect(told).to_have_text("East 1 begins, honba 2")
    expect(page.get_by_role("heading", level=1)).to_contain_text("default")
    scripted.draw("6s")
    expect(told).to_have_text("You draw 6 sou")
    scripted.say("dahai", actor=0, pai="6s", tsumogiri=True)
    expect(told).to_have_text("You discard 6 sou")
    scripted.say("tsumo", actor=1, pai="?")
    expect(told).to_have_text("right draws")
    scripted.say("hora", actor=1, target=1, pai="9s")
    expect(told).to_have_text("right wins by tsumo with 9 sou")


def test_a_call_is_chosen_and_its_kind_not_discarded(scripted: ScriptedTable, page: Page) -> None:
    scripted.begin(["5p", "5p", "5pr", "5s", "5s", "1m", "1m", "E", "E", "S", "S", "W", "W"], dealer=2)
    pons = [{"type": "pon", "consumed": consumed} for consumed in (["5p", "5p"], ["5p", "5pr"])]
    scripted.other_discards(2, "5p", *pons, {"type": "daiminkan", "consumed": ["5p", "5p", "5pr"]})
    expect(page.locator(".actions button")).to_have_text(["Kan", "Pon", "Pon", "Pass"])
    expect(page.locator(ENABLED)).to_have_count(0)
    page.keyboard.press("p")
    page.keyboard.press("p")
    page.keyboard.press("d")  # draws the actions again, as the room's settings do when they arrive
    page.keyboard.press("Enter")
    expect(page.locator(".actions button")).to_have_count(0)
    assert scripted.replies == [{"type": "pon", "actor": 0, "target": 2, "pai": "5p", "consumed": ["5p", "5pr"]}]
    scripted.say("pon", actor=0, target=2, pai="5p", consumed=["5p", "5pr"], cannot_dahai=["5p"], can_act=True)
    expect(page.locator("nuki-table button:disabled .tile")).to_have_attribute("data-tile", "5p")
    page.locator("nuki-table button:disabled").click(force=True)
    page.keyboard.press(" ")  # there is no drawn tile
    page.keyboard.press("3")  # 1m 1m 5p
    assert len(scripted.replies) == 1
    page.keyboard.press("1")
    expect(page.locator(ENABLED)).to_have_count(0)
    assert scripted.replies[1:] == [{"type": "dahai", "actor": 0, "pai": "1m", "tsumogiri": False}]


def test_waits_and_furiten_are_shown(scripted: ScriptedTable, page: Page) -> None:
    waits = page.locator(".play-waits")
    scripted.begin([*RUNS, "2s", "3s"], dealer=2)
    scripted.other_discards(2, "4s")  # cannot win for lack of a yaku
    expect(waits.locator(".tile")).to_have_count(2)
    expect(waits).to_contain_text("×3")
    expect(waits).to_contain_text("Furiten until your next discard")
    scripted.draw("E")
    expect(page.locator(ENABLED)).to_have_count(14)
    page.keyboard.press(" ")
    expect(page.locator(ENABLED)).to_have_count(0)
    scripted.say("dahai", actor=0, pai="E", tsumogiri=True)
    expect(waits).not_to_contain_text("Furiten")
    scripted.other_discards(1, "9s")
    scripted.draw("4s", {"type": "hora", "target": 0, "pai": "4s"})
    expect(page.locator(".actions")).to_have_text("Tsumo")
    page.locator(f"{ENABLED}.drawn").click()
    scripted.say("dahai", actor=0, pai="4s", tsumogiri=True)
    expect(waits).to_contain_text("Furiten: you have discarded a wait")


def test_switches_reply_by_themselves(scripted: ScriptedTable, page: Page) -> None:
    scripted.begin([*RUNS, "N", "3s"], dealer=2)
    pressed = page.locator(".switch[aria-pressed=true]")
    for name in ("Auto nukidora", "No calls", "Tsumogiri"):
        page.get_by_role("button", name=name).click()
    expect(pressed).to_have_count(3)
    scripted.other_discards(2, "1s", {"type": "pon", "consumed": ["1s", "1s"]})
    scripted.draw("C", {"type": "nukidora", "pai": "N"})
    scripted.say("nukidora", actor=0, pai="N")
    scripted.draw("F")
    scripted.say("dahai", actor=0, pai="F", tsumogiri=True)
    expect(page.locator("nuki-table .seat.bottom .river .tile")).to_have_count(1)
    assert [reply["type"] for reply in scripted.replies] == ["none", "nukidora", "dahai"]
    scripted.say("end_kyoku")
    scripted.round([*RUNS, "N", "3s"])
    expect(pressed).to_have_text(["Auto nukidora"])  # the others were for that round


@phone_at_length
def test_the_result_of_a_round_is_explained(scripted: ScriptedTable, page: Page) -> None:
    hostile = "<img src=x onerror=alert(1)>"
    scripted.names = ["me", hostile, "W" * 64]
    scripted.begin([*RUNS, "2s", "3s"], honba=1)
    scripted.say("tsumo", actor=0, pai="E")
    scripted.say("dahai", actor=0, pai="E", tsumogiri=True)
    scripted.say(
        "hora", actor=1, target=0, pai="E", uradora_markers=["1s"], fu=40, fan=4, hora_points=8000,
        hora_tehais=["2p", "3p", "4p", "6p", "7p", "8p", "2s", "3s", "4s", "P", "P", "E", "E"],
        yakus=[["reach", 1], ["ippatsu", 1], ["sangenpai", 1], ["dora", 1]],
        deltas=[-8200, 8200, 0], scores=[26800, 43200, 35000],
    )  # fmt: skip
    scripted.say("end_kyoku")
    dialog = page.locator(".play-dialog")
    expect(dialog.get_by_role("heading")).to_have_text(f"{hostile} wins by ron from me")
    expect(dialog.locator(".result-yaku")).to_contain_text("Ippatsu")
    expect(dialog.locator(".result-total")).to_contain_text("4 han 40 fu mangan")
    expect(dialog.locator(".result-payments")).to_contain_text("me pays 8,000 + 200 (honba)")
    expect(dialog.locator(".result-own")).to_contain_text("−8,200")
    analysis = str(dialog.get_by_role("link", name="Analyse the last turn").get_attribute("href"))
    assert re.match(r"/position#hand=\w+1z&seat=E&round=E1&honba=1&scores=35000%2C35000%2C35000&", analysis)
    assert page.locator("img").count() == 0
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    scripted.round(["1m"] * 4 + ["9p"] * 4 + ["E", "S", "W", "P", "C"])
    scripted.draw("F")
    expect(dialog).to_be_visible()  # the game goes on behind it
    page.get_by_role("button", name="Continue").click()
    expect(dialog).to_be_hidden()
    expect(page.locator(ENABLED)).to_have_count(14)


def test_two_tabs_do_not_fight(scripted: ScriptedTable, page: Page) -> None:
    scripted.begin([*RUNS, "2s", "3s"])
    scripted.draw("E")
    scripted.error("another connection has resumed this game", close=True)
    expect(page.locator(".play-note")).to_contain_text("another connection has resumed this game")
    expect(page.locator(ENABLED)).to_have_count(0)
    page.context.set_offline(True)  # does not make it connect again either
    page.context.set_offline(False)
    page.wait_for_timeout(600)  # longer than a page waits after a lost connection
    assert len(scripted.joins) == 1
    page.get_by_role("button", name="Back into the game").click()
    expect(page.locator(ENABLED)).to_have_count(14)
    assert [(join.get("resume"), join.get("seen")) for join in scripted.joins] == [(True, None), ("secret", 3)]


def test_a_question_that_timed_out_gets_its_late_reply(scripted: ScriptedTable, page: Page) -> None:
    """The server counts replies: without it, the next one would be taken for the answer to the old question."""
    scripted.begin([*RUNS, "2s", "3s"])
    scripted.draw("E")
    scripted.error("no reply within 5 s and the time bank; tsumogiri was played")
    scripted.say("dahai", actor=0, pai="E", tsumogiri=True)
    expect(page.get_by_role("alert")).to_contain_text("no reply within 5 s")
    scripted.other_discards(1, "9s")
    scripted.draw("C")
    page.locator(f"{ENABLED}.drawn").click()
    expect(page.locator(ENABLED)).to_have_count(0)
    assert [reply["type"] for reply in scripted.replies] == ["none", "dahai"]


@pytest.mark.parametrize("referer", ["http://localhost/", None])
def test_who_comes_from_another_site_is_asked_first(page: Page, site: Site, referer: str | None) -> None:
    name = f"lured-{bool(referer)}"
    set_name(page, name)
    page.goto(open_room(site, name), referer=referer)
    expect(page.get_by_label("Your name")).to_have_value(name)
    assert not site.get(f"/api/games?status=playing&player={name}")["items"]
    page.get_by_role("button", name=f"Join {name}").click()
    expect(page.locator("nuki-table .seat.bottom .hand .tile")).not_to_have_count(0)


def test_a_refused_name_can_be_mended(page: Page, site: Site) -> None:
    path = open_room(site, "names")
    page.goto(path)
    page.get_by_label("Your name").fill("rule (house)")
    page.get_by_role("button", name="Join names").click()
    expect(page.locator(".join-problem")).to_contain_text("house")
    assert serious_faults(page) == []
    page.get_by_label("Your name").fill("<b>Aki</b>")
    page.get_by_role("button", name="Join names").click()
    expect(page.locator("nuki-table .seat.bottom .hand .tile")).not_to_have_count(0)
    assert page.locator("nuki-table b").count() == 0


def in_japanese(page: Page) -> None:
    page.add_init_script("localStorage.setItem('nukidora.language', 'ja')")


def test_a_page_in_japanese_says_in_japanese_why_a_join_is_refused(page: Page, site: Site) -> None:
    in_japanese(page)
    page.goto(open_room(site, "japanese"))
    page.get_by_label("名前").fill("rule (house)")
    page.get_by_role("button", name="japanese に参加").click()
    problem = "「rule (house)」はサーバーのボット用の名前か、それに似た名前です。別の名前にしてください"
    expect(page.locator(".join-problem")).to_have_text(problem)
    page.get_by_label("名前").fill("\u3164")  # invisible
    page.get_by_role("button", name="japanese に参加").click()
    expect(page.locator(".join-problem")).to_contain_text(
        "1文字から64文字までの、見える文字を含む名前（「.」と「..」以外）にしてください"
    )


def test_a_page_in_japanese_says_faults_in_japanese(scripted: ScriptedTable, page: Page) -> None:
    """And why the server has closed the connection; what has no code is shown as it is."""
    in_japanese(page)
    page.goto("/rooms/default/play", referer=f"{scripted.url}/rooms")
    page.get_by_text("まもなく対局開始").wait_for()
    scripted.say("start_game", names=scripted.names, id=0, resume="secret", game="0123456789abcdef", http_port=1)
    scripted.round([*RUNS, "2s", "3s"])
    scripted.draw("E")
    late = "no reply within {seconds:g} s and the time bank; {default} was played"
    scripted.error(error_text("late", late, seconds=5.0, default="tsumogiri"))
    expect(page.get_by_role("alert")).to_have_text(
        "5秒と持ち時間のうちに応答がなかったため、自動でスキップまたは打牌しました"
    )
    scripted.error("told by a later version")
    expect(page.get_by_role("alert")).to_have_text("told by a later version")
    text = "{n} faults: {bot} plays this seat"
    scripted.error(error_text("seat_faults", text, n=10, bot="rule"), close=True)
    expect(page.locator(".play-note")).to_contain_text("反則が10回になったため、以後はruleが代打ちします")
    expect(page.get_by_role("alert")).to_have_count(0)


def test_after_the_game_one_can_play_again(scripted: ScriptedTable, page: Page) -> None:
    scripted.begin([*RUNS, "2s", "3s"])
    scripted.draw("E")
    scripted.say("ryukyoku", **ABORTED)
    scripted.say("end_kyoku")
    scripted.say("end_game", scores=[50000, 30000, 25000], points=[30, -10, -20])
    expect(page.locator(".play-dialog[open]")).to_be_visible()
    assert serious_faults(page) == []
    page.get_by_role("button", name="Continue").click()
    dialog = page.locator(".play-dialog")
    expect(dialog.locator(".result-own")).to_have_text("1.me50,000+30.0")
    expect(dialog.get_by_role("link", name="Review")).to_have_attribute("href", "/games/0123456789abcdef/review#seat=0")
    page.route("**/api/games/*/record", lambda route: route.fulfill(body=gzip.compress(b"")))
    page.reload()
    expect(dialog.get_by_role("link", name="Replay")).to_have_attribute("href", "/games/0123456789abcdef#seat=0")
    page.get_by_role("button", name="Play again").click()
    expect(page.get_by_text("The game begins in a moment.")).to_be_visible()
    assert [join.get("resume") for join in scripted.joins] == [True, True]


def test_an_old_result_is_not_shown_again_after_a_reload(scripted: ScriptedTable, page: Page) -> None:
    scripted.begin([*RUNS, "2s", "3s"])
    scripted.draw("E")
    scripted.say("ryukyoku", **ABORTED)
    scripted.say("end_kyoku")
    expect(page.locator(".play-dialog[open]")).to_be_visible()
    page.get_by_role("button", name="Continue").click()
    scripted.round([*RUNS, "2s", "3s"], honba=1)
    scripted.draw("W")
    expect(page.locator(ENABLED)).to_have_count(14)
    page.reload()
    expect(page.locator(ENABLED)).to_have_count(14)
    expect(page.locator(".play-dialog[open]")).to_have_count(0)
    scripted.say("ryukyoku", **ABORTED)
    scripted.say("end_kyoku")
    expect(page.locator(".play-dialog[open]")).to_be_visible()


def test_a_key_held_down_acts_once(scripted: ScriptedTable, page: Page) -> None:
    scripted.begin([*RUNS, "2s", "3s"])
    scripted.draw("E")
    expect(page.locator(ENABLED)).to_have_count(14)
    page.keyboard.down(" ")
    expect(page.locator(ENABLED)).to_have_count(0)
    scripted.say("dahai", actor=0, pai="E", tsumogiri=True)
    scripted.draw("C")
    expect(page.locator(ENABLED)).to_have_count(14)
    page.keyboard.down(" ")  # the key repeats
    page.keyboard.up(" ")
    page.keyboard.press("1")
    expect(page.locator(ENABLED)).to_have_count(0)
    assert [reply["pai"] for reply in scripted.replies] == ["E", "1p"]


def test_the_table_shows_a_second_game(scripted: ScriptedTable, page: Page) -> None:
    scripted.begin([*RUNS, "2s", "3s"])
    scripted.draw("E")
    scripted.say("ryukyoku", reason="kyushukyuhai", tenpais=[False] * 3, tehais=[HIDDEN] * 3, deltas=[0] * 3)
    scripted.say("end_kyoku")
    scripted.say("end_game", scores=[50000, 30000, 25000], points=[30, -10, -20])
    page.get_by_role("button", name="Continue").click()
    page.get_by_role("button", name="Play again").click()
    scripted.begin_game()
    scripted.round(["1m"] * 4 + ["9p"] * 4 + ["E", "S", "W", "P", "C"])
    scripted.draw("F")
    expect(page.locator(f"{ENABLED}:visible")).to_have_count(14)
    expect(page.locator("nuki-table .seat.bottom .river .tile")).to_have_count(0)
