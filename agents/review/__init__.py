"""Reviews: what bots think of every decision of a seat in a recorded game.

`decisions` replays the record, `opinions` asks the bots, `review` makes the review that is written as JSON, by
`mjai_reviewer` also in the format of the program of that name, by `page` as a page, and by `report` on a terminal.
`running` does all of it, as the options of `cli` say.
"""
