"""The replay of a finished game: every place shows the reducer's state, however it is reached."""

from __future__ import annotations

import gzip
import json
import re
from typing import Any
from urllib.parse import unquote

from playwright.sync_api import Browser, BrowserContext, Page, expect

from engine.common.error_text import coded, error_text
from engine.records import tenhou_json
from tests.support.accessibility import serious_faults
from tests.web.conftest import SIZES, Site, both_sizes, phone_at_length, strict_context
from tests.web.sample_game import GAME, example, place_of, show
from tests.web.shown import number

HOSTILE = "<img src=x onerror=alert(1)>"
CALLS = ("pon", "daiminkan", "kakan", "ankan")
MARKED = ("hora", "reach", *CALLS)
SHOWN = "nuki-replay[data-place='{}']"
# Goes to every place, forward by the button and back by the key, and compares what is drawn with a table of its own.
WALK = """
async ({ messages, options }) => {
  const { states } = await import("/web/mjai.js");
  const replay = document.querySelector("nuki-replay");
  const drawn = replay.querySelector("nuki-table");
  const html = (table) =>
    table.innerHTML.replace(/class="([^"]*)"/g, (_, names) => names.split(" ").sort().join(" "));
  const expected = states(messages).slice(1).map((state) => {
    const table = document.createElement("nuki-table"); // drawn at once, not step by step
    table.show(state, options);
    return html(table);
  });
  const wrong = [];
  const look = (place, way) => {
    const same = html(drawn) === expected[place] && Number(replay.dataset.place) === place;
    if (!same) wrong.push(`${way} ${place}`);
  };
  replay.go(0);
  look(0, "start");
  for (let place = 1; place < expected.length; place++) {
    replay.querySelector("[data-control=step]").click();
    look(place, "forward");
  }
  for (let place = expected.length - 2; place >= 0; place--) {
    document.body.dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowLeft", bubbles: true }));
    look(place, "back");
  }
  return [wrong, expected.length];
}
"""
# At each place: the next draw and whose it is, the next replacement, and how many draws are left.
COMING = """
(places) => {
  const replay = document.querySelector("nuki-replay");
  const first = (part) => replay.querySelector(`[data-wall=${part}] li`);
  return Array.from({ length: places }, (_, place) => {
    replay.go(place);
    const [draw, replacement] = [first("draws"), first("replacements")];
    const left = replay.querySelectorAll("[data-wall=draws] li").length;
    return [draw?.firstChild.dataset.tile, draw?.innerText, replacement?.firstChild.dataset.tile, left];
  });
}
"""
TABLE = "document.querySelector('nuki-table').innerHTML"


def stored(site: Site) -> tuple[str, list[dict[str, Any]]]:
    """The id and the messages of a game that the server has stored."""
    games: Any = site.get("/api/games")["items"]
    game_id = games[-1]["id"]
    record = site.response(f"/api/games/{game_id}/record").content
    return game_id, [json.loads(line) for line in gzip.decompress(record).decode().splitlines()]


@phone_at_length
def test_every_step_of_a_stored_game_shows_its_state(page: Page, site: Site) -> None:
    game_id, messages = stored(site)
    page.goto(f"/games/{game_id}#seat=1&hands=closed")
    expect(page.locator(SHOWN.format(0))).to_be_visible()
    options = {"bottom": 1, "open": False, "marks": {}}
    wrong, places = page.evaluate(WALK, {"messages": messages, "options": options})
    assert places == len(messages) - 1 > 100
    assert wrong == []


@phone_at_length
def test_seeking_leads_to_the_same_tables_as_steps(page: Page) -> None:
    messages = example()
    show(page, messages)
    seek = page.get_by_role("slider", name="Place in the game")
    assert seek.get_attribute("max") == str(len(messages) - 2)
    steps = []
    for _ in range(5):
        page.keyboard.press("ArrowRight")
        steps.append(page.evaluate(TABLE))
    for place in (4, 2, 5):
        seek.fill(str(place))
        expect(page.locator(SHOWN.format(place))).to_be_visible()
        assert page.evaluate(TABLE) == steps[place - 1]
    expect(seek).to_have_attribute("aria-valuetext", re.compile(r"E1-0, step 5 of \d+"))


def test_the_keys(page: Page) -> None:
    messages = example()
    starts = [place_of(messages, index + 1) for index, each in enumerate(messages) if each["type"] == "start_kyoku"]
    decides = [index for index, each in enumerate(messages) if each["type"] == "dahai" and each["actor"] == 2]
    show(page, messages)
    replay = page.locator("nuki-replay")
    last = len(messages) - 2
    for key, place in [
        ("ArrowRight", 1), ("ArrowRight", 2), ("ArrowLeft", 1), ("ArrowDown", starts[1]), ("ArrowDown", starts[2]),
        ("ArrowRight", starts[2] + 1), ("ArrowUp", starts[2]), ("ArrowUp", starts[1]), ("End", last),
        ("ArrowRight", last), ("Home", 0), ("ArrowLeft", 0),
        ("3", 0), ("Shift+ArrowRight", place_of(messages, decides[0])),
        ("Shift+ArrowRight", place_of(messages, decides[1])), ("Shift+ArrowLeft", place_of(messages, decides[0])),
    ]:  # fmt: skip
        page.keyboard.press(key)
        expect(replay, key).to_have_attribute("data-place", str(place))
    expect(replay).to_have_attribute("data-seat", "2")
    page.keyboard.press("?")
    expect(page.get_by_text("Space play")).to_be_visible()
    page.keyboard.press("?")
    expect(page.get_by_text("Space play")).to_be_hidden()
    for _ in range(2):  # it hides them, and does not show them
        page.keyboard.press("?")
        expect(page.get_by_text("Space play")).to_be_visible()
        page.keyboard.press("Escape")
        page.keyboard.press("Escape")
        expect(page.get_by_text("Space play")).to_be_hidden()
    expect(page.get_by_role("button", name="Keys")).to_have_attribute("aria-expanded", "false")


def test_playing_goes_on_by_itself_and_stops_at_the_end(page: Page) -> None:
    messages = example()
    show(page, messages, "#round=3&step=0")
    start = page.locator("nuki-replay").get_attribute("data-place")
    page.get_by_label("Speed").select_option("8")
    page.get_by_label("Speed").blur()
    page.keyboard.press("Space")
    expect(page.get_by_role("button", name="Pause")).to_be_visible()
    expect(page.locator("nuki-replay")).not_to_have_attribute("data-place", str(start))
    page.keyboard.press("End")
    expect(page.get_by_role("button", name="Play", exact=True)).to_be_visible()


def test_a_shared_link_opens_at_its_place(page: Page, context: BrowserContext) -> None:
    context.grant_permissions(["clipboard-read", "clipboard-write"])
    show(page, example(), "#round=2&step=17&seat=1&hands=closed")
    expect(page.locator("nuki-replay[data-round='2'][data-step='17'][data-seat='1']")).to_be_visible()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("h")
    page.get_by_role("button", name="Copy link").click()
    expect(page.get_by_role("button", name="Copied")).to_be_visible()
    link = page.evaluate("navigator.clipboard.readText()")
    expect(page).to_have_url(link)
    assert link.endswith("#round=2&step=18&seat=1&hands=open")
    before = page.evaluate(TABLE)
    other = context.new_page()
    show(other, example(), link[link.index("#") :])
    expect(other.locator("nuki-replay[data-round='2'][data-step='18'][data-seat='1']")).to_be_visible()
    assert other.evaluate(TABLE) == before


def test_a_link_to_no_place_opens_the_game_all_the_same(page: Page) -> None:
    for fragment in ("#round=99&step=99999&seat=7", "#round=x&step=-1", "#hands=%00&%", "#round=0&step=99999"):
        page.goto("about:blank")
        show(page, example(), fragment)
        page.keyboard.press("Home")
        expect(page.locator(SHOWN.format(0))).to_be_visible()


def test_a_link_beyond_a_round_opens_the_end_of_that_round(page: Page) -> None:
    messages = [each for each in example() if each["type"] not in ("error", "start_game")]
    starts = [place for place, each in enumerate(messages) if each["type"] == "start_kyoku"]
    last = len(starts) - 1
    steps = starts[2] - starts[1] - 1
    for fragment, index, step in [("#round=99&step=5", last, 5), ("#round=1&step=9999", 1, steps)]:
        page.goto("about:blank")
        show(page, example(), fragment)
        expect(page.locator(f"nuki-replay[data-round='{index}'][data-step='{step}']")).to_be_visible()


def test_the_page_is_named_after_the_players(page: Page) -> None:
    messages = example()
    show(page, messages)
    names = ", ".join(messages[0]["names"])
    expect(page).to_have_title(f"Game: {names} · nukidora")
    expect(page.get_by_role("heading", level=1)).to_have_text(f"Game: {names}")


@phone_at_length
def test_the_rest_of_the_wall_is_what_comes(page: Page, site: Site) -> None:
    """At every place, what is drawn next is the first of the draws or of the replacements, and whose it is."""
    game_id, messages = stored(site)
    page.goto(f"/games/{game_id}")
    wall, switch = page.locator(".replay-wall"), page.get_by_role("button", name="What would have come")
    expect(switch).to_have_attribute("aria-pressed", "false")
    expect(wall).to_be_hidden()
    switch.click()
    expect(switch).to_have_attribute("aria-pressed", "true")
    expect(wall.locator("[data-wall=draws] li")).to_have_count(55)
    coming = page.evaluate(COMING, len(messages) - 1)
    dealer, drawn, due, seen = 0, 0, False, set()
    for place, message in enumerate(messages[1:]):
        if message["type"] == "start_kyoku":
            dealer, drawn = message["oya"], 0
        if message["type"] == "tsumo":
            draw, wind, replacement, left = coming[place - 1]
            assert left == 55 - drawn - due, place  # each replacement takes a draw away
            drawn += 1
            assert message["pai"] == (replacement if due else draw), place
            if not due:
                assert wind == "ESW"[(message["actor"] - dealer) % 3], place
            seen.add(due)
        due = message["type"] in ("nukidora", "ankan", "kakan", "daiminkan") or (due and message["type"] == "dora")
    assert seen == {True, False}
    assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
    assert serious_faults(page) == []
    page.keyboard.press("w")
    expect(wall).to_be_hidden()


def test_a_wall_that_is_not_known_is_not_offered(page: Page) -> None:
    first, *others = example()
    show(page, [{key: value for key, value in first.items() if key != "wall_seed"}, *others])
    page.keyboard.press("w")
    expect(page.get_by_role("button", name="What would have come")).to_be_hidden()
    expect(page.locator(".replay-wall")).to_be_hidden()


def test_the_round_list_jumps(page: Page) -> None:
    messages = example()
    rounds = [each for each in messages if each["type"] == "start_kyoku"]
    show(page, messages)
    buttons = page.get_by_role("group", name="Rounds").get_by_role("button")
    assert buttons.all_inner_texts() == [f"{each['bakaze']}{each['kyoku']}-{each['honba']}" for each in rounds]
    buttons.nth(3).click()
    expect(page.locator("nuki-replay[data-round='3'][data-step='0']")).to_be_visible()
    expect(buttons.nth(3)).to_have_attribute("aria-current", "true")
    expect(page.get_by_role("region", name="Scores").get_by_role("row")).to_have_count(1 + 3)  # those that are over


@both_sizes
def test_scores_of_rounds_to_come_are_hidden_until_asked_for(page: Page) -> None:
    messages = example()
    show(page, messages)
    ends = [place for place, message in enumerate(messages[1:]) if message["type"] == "end_kyoku"]
    panel, replay = page.locator(".scores"), "document.querySelector('nuki-replay')"
    rows, whole = panel.locator("tbody:visible tr:visible"), panel.get_by_label("also of rounds to come")
    expect(panel).to_be_visible()
    for place, over in [(0, 0), (ends[0] - 1, 0), (ends[0], 1), (ends[1], 2), (ends[0] + 1, 1)]:
        page.evaluate(f"{replay}.go({place})")
        expect(rows).to_have_count(over)
        expect(panel.get_by_role("slider")).to_have_count(min(over, 1))
    final = messages[-1]["scores"][0]
    assert number(final) not in panel.inner_text()
    whole.check()
    expect(rows.last).to_contain_text(number(final))
    page.keyboard.press("ArrowRight")  # the keys go on, with the focus on the switch
    expect(page.locator(SHOWN.format(ends[0] + 2))).to_be_visible()
    whole.uncheck()
    rows.first.get_by_role("button").click()
    expect(rows).to_have_count(0)
    expect(whole).to_be_focused()  # the button has hidden itself
    whole.check()
    expect(panel.locator(".chart-canvas circle")).to_have_count(3 * (len(ends) + 1))
    page.reload()
    expect(rows.first).to_be_visible()  # the browser remembers it


def test_any_seat_sits_at_the_bottom_and_hands_close(page: Page) -> None:
    messages = example()
    show(page, messages)
    hidden = page.locator("nuki-table [data-tile='?']")
    open_hands = hidden.count()
    expect(page.locator(".seats button").first).to_have_text(f"1 {messages[0]['names'][0]}")
    for seat in (1, 2, 0):
        page.locator(f".seats [data-seat='{seat}']").click()
        expect(page.locator(f"nuki-replay[data-seat='{seat}']")).to_be_visible()
    page.get_by_role("button", name="Open hands").click()
    expect(hidden).to_have_count(open_hands + 26)
    page.keyboard.press("h")
    expect(hidden).to_have_count(open_hands)


def test_the_seek_bar_marks_what_has_happened_and_the_rest_on_request(page: Page) -> None:
    messages = example()
    show(page, messages)
    marked = [place_of(messages, index + 1) for index, each in enumerate(messages) if each["type"] in MARKED]
    marks, wins = page.locator(".seek-mark:visible"), page.locator("[data-mark='win']:visible")
    expect(marks).to_have_count(0)
    first = next(place_of(messages, index + 1) for index, each in enumerate(messages) if each["type"] == "hora")
    for place, won in [(first - 1, 0), (first, 1), (first - 1, 0)]:
        page.evaluate("place => document.querySelector('nuki-replay').go(place)", place)
        expect(wins).to_have_count(won)
        expect(marks).to_have_count(sum(each <= place for each in marked))
    switch = page.get_by_label("also of rounds to come")
    switch.check()
    expect(marks).to_have_count(len(marked))
    types = [each["type"] for each in messages]
    for kind, named in (("win", ["hora"]), ("riichi", ["reach"]), ("call", CALLS)):
        expect(page.locator(f"[data-mark='{kind}']:visible")).to_have_count(sum(map(types.count, named)))
    expect(page.locator(".seek-round")).to_have_count(types.count("start_kyoku"))
    page.evaluate("dispatchEvent(new Event('pagehide'))")  # the address follows a moment later, and a reload is of it
    page.reload()
    expect(marks).to_have_count(len(marked))
    switch.uncheck()
    expect(wins).to_have_count(0)


def test_downloads_and_links_to_tenhou(page: Page, site: Site) -> None:
    game_id, messages = stored(site)
    page.goto(f"/games/{game_id}")
    links = page.locator(".record a")
    expect(links).to_have_count(4)
    for link in links.all():
        assert page.request.get(str(link.get_attribute("href"))).ok
    page.get_by_role("button", name="Make the links").click()
    rounds = page.locator(".tenhou a")
    expect(rounds).to_have_count(sum(each["type"] == "start_kyoku" for each in messages))
    for link in rounds.all():
        assert link.get_attribute("rel") == "noreferrer"
        address, _, document = str(link.get_attribute("href")).partition("#json=")
        assert address == "https://tenhou.net/5/"
        assert len(tenhou_json.read(unquote(document), "link").rounds()) == 1


def test_the_review_is_linked_at_the_place(page: Page) -> None:
    show(page, example(), "#round=0&step=1&seat=2")
    link = page.get_by_role("link", name="Review this seat")
    expect(link).to_have_attribute("href", f"/games/{GAME}/review#seat=2&at=2")


MORTAL_BITS = (1 << 9) | (1 << 16) | (1 << 37) | (1 << 43)  # 1p, 8p, reach, none
NOTES: dict[str, tuple[dict[str, Any], list[str], list[str]]] = {
    "bert": (
        {"token": "dahai 9p", "prob": 0.6, "candidate": [
            {"token": "dahai 9p", "prob": 0.6}, {"token": "reach", "prob": 0.3}, {"token": "dahai 1m", "prob": 0.1},
        ], "points": 1.25},
        ["60.0%", "30.0%", "10.0%"], ["points"],
    ),
    "mortal": (
        {"q_values": [-1.5, 0.25, 1, -3], "mask_bits": MORTAL_BITS, "shanten": 2},
        ["1.000", "0.250", "-1.500", "-3.000"], ["shanten"],
    ),
    "names": ({"values": {"1p": 0.5, "5pr": 0.25, "pass": 0.25}}, ["50.0%", "25.0%", "25.0%"], []),
    "review": (
        {"list": [{"action": {"type": "dahai", "pai": "1p"}, "value": 0.1}, {"action": {"type": "pon"}, "value": 2}]},
        ["2.000", "0.100"], [],
    ),
    "yaku": ({"goes_for": "riichi", "costs": {"riichi": 2.6}}, [], ["goes_for", "costs"]),
    "anything": ({HOSTILE: {"__proto__": [1, None]}, "text": HOSTILE}, [], [HOSTILE, "text"]),
}  # fmt: skip


def test_no_room_is_left_for_notes_where_bots_say_nothing(page: Page) -> None:
    messages = example()
    reach = next(number for number, each in enumerate(messages) if each["type"] == "reach")
    seat = messages[reach]["actor"]
    later = range(reach + 3, len(messages))  # after the discard that declares it
    discard = next(at for at in later if (messages[at]["type"], messages[at].get("actor")) == ("dahai", seat))
    assert "end_kyoku" not in [each["type"] for each in messages[reach:discard]]
    messages[discard]["ext_bot"] = {"5p": 1}  # no choice, so that it is shown nowhere
    messages[reach]["ext_bot"] = {}
    show(page, messages)
    expect(page.locator(".replay-note")).to_be_hidden()
    messages[reach]["ext_bot"] = {"5p": 1}
    show(page, messages)
    expect(page.locator(".replay-note")).to_be_visible()


def test_what_bots_say_stands_beside_their_moves(page: Page) -> None:
    messages = example()
    discards = [number for number, each in enumerate(messages) if each["type"] == "dahai"]
    for index, (note, _, _) in zip(discards, NOTES.values(), strict=False):
        messages[index]["ext_bot"] = note
    show(page, messages)
    panel = page.locator(".note")
    for index, (_, values, facts) in zip(discards, NOTES.values(), strict=False):
        page.evaluate("place => document.querySelector('nuki-replay').go(place)", place_of(messages, index))
        name = messages[0]["names"][messages[index]["actor"]]
        expect(panel.get_by_role("heading")).to_have_text(f"What {name} thinks")
        expect(panel.locator("li")).to_have_count(len(values))
        shown = [re.search(r"-?\d+\.\d+%?", text) for text in panel.locator("li").all_inner_texts()]
        assert [found and found[0] for found in shown] == values
        assert panel.locator("dt").all_inner_texts() == facts
    page.keyboard.press("ArrowRight")
    expect(panel).to_have_count(0)


def test_the_costs_of_hand_types_are_listed(page: Page) -> None:
    messages = example()
    index = next(number for number, each in enumerate(messages) if each["type"] == "dahai")
    messages[index]["ext_bot"] = {"goes_for": "pinfu", "costs": {"pinfu": 1.9, "riichi": 2.7}}
    show(page, messages, f"#round=0&step={place_of(messages, index)}")
    assert page.locator(".note dd").all_inner_texts() == ["pinfu", "pinfu 1.9, riichi 2.7"]


def test_tiles_of_the_seat_at_the_bottom_have_bars_and_notes_hide_with_hands(page: Page) -> None:
    messages = example()
    index = next(number for number, each in enumerate(messages) if each["type"] == "dahai")
    hand = messages[1]["tehais"][0]
    messages[index]["ext_bot"] = {hand[0]: 0.75, messages[index]["pai"]: 0.25}
    show(page, messages, f"#round=0&step={place_of(messages, index)}")
    best = page.locator("nuki-table .slot", has=page.locator(".bar.best"))
    assert {each.get_attribute("title") for each in best.all()} == {"75.0%"}
    assert page.locator("nuki-table .bar.played").count() >= 1
    page.keyboard.press("2")  # another seat
    expect(page.locator("nuki-table .bar")).to_have_count(0)
    for hands_closed in (True, False):
        page.keyboard.press("h")
        expect(page.locator(".note")).to_have_count(0 if hands_closed else 1)


def test_faults_are_shown_at_their_place(page: Page) -> None:
    messages = example()
    messages.insert(7, {"type": "error", "actor": 0, "message": f"too late {HOSTILE}"})
    show(page, messages)
    fault = page.locator(".fault")
    for _ in range(5):
        page.keyboard.press("ArrowRight")
        expect(fault).to_have_count(0)
    page.keyboard.press("ArrowRight")
    expect(fault).to_have_text(f"Fault: too late {HOSTILE}")
    page.keyboard.press("ArrowRight")
    expect(fault).to_have_count(0)


# What a server has written of faults -> what a page in Japanese says; those of older servers have no code.
FAULTS = {
    error_text("illegal", "", problem=error_text("may_not", "", action="pass", legal="discard 5p")): (
        "できない行動です：pass はできません。できるのは discard 5p です"
    ),
    error_text("connection_lost", "lost", seconds=30.0, bot="rule"): (
        "接続が切れて30秒たったため、以後はruleが代打ちします"
    ),
    error_text("unheard_of", f"of a newer server {HOSTILE}"): f"of a newer server {HOSTILE}",
    "no reply within 5 s": "no reply within 5 s",
}


def test_faults_are_shown_in_japanese(browser: Browser, site: Site) -> None:
    messages = example()
    messages[7:7] = [{"type": "error", "actor": 0, "message": str(line)} | coded(line) for line in FAULTS]
    with strict_context(browser, SIZES["desktop"], (site.url, "data:"), base_url=site.url, locale="ja") as context:
        page = context.new_page()
        show(page, messages)
        for _ in range(6):
            page.keyboard.press("ArrowRight")
        expect(page.locator(".fault")).to_have_text([f"反則：{told}" for told in FAULTS.values()])


def test_a_record_that_cannot_be_followed_says_where(page: Page) -> None:
    messages = example()
    index = next(number for number, each in enumerate(messages) if each["type"] == "dahai")
    messages[index] |= {"pai": "5m", "tsumogiri": False}
    show(page, messages)
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowLeft")
    expect(page.locator(SHOWN.format(place_of(messages, index)))).to_be_visible()
    expect(page.locator(".fault")).to_contain_text("cannot be followed beyond this place")


@both_sizes
def test_axe_finds_no_serious_fault(page: Page) -> None:
    messages = example()
    index = next(number for number, each in enumerate(messages) if each["type"] == "dahai")
    messages[index]["ext_bot"] = {"5p": 1}
    show(page, messages, f"#round=0&step={place_of(messages, index)}")
    assert serious_faults(page) == []
    page.keyboard.press("End")
    assert serious_faults(page) == []


def test_an_unknown_game(failing_page: Page) -> None:
    failing_page.goto("/games/nothing")
    expect(failing_page.get_by_role("heading", name="There is no such game")).to_be_visible()
    expect(failing_page.get_by_role("link", name="To the lobby")).to_be_visible()
