"""Game records: files in the formats of mjai, Tenhou mjlog and tenhou.net/6, and their replay on the engine.

Begin with `engine.records.files` (`read_records`, `write_record`): every format is read into a `GameRecord` (`model`)
and written from it. `mjai`, `mjlog`, `tenhou_json` and `majsoul` are the formats; `tenhou_rounds`, `tenhou_rows` and
`tenhou_results` are the parts of a tenhou.net/6 round, `tenhou_rules` reads its rules, and `yaku_names` has the names
of yaku. `replay` plays a record again and checks it against the rules, with `wall` and `compare`; `validate` does so
for many files. `filling` computes results that a record lacks, `cut_off` tells where a log ends that was cut off.
`show` prints a record.

`archives` reads the records of archives one after another, `compression` unpacks them, `filters` chooses among them,
and `stream` works on all of them with all cores. `convert` writes archives (`packing`).
"""
