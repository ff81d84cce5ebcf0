"""What people see and touch on small screens: nothing is cut, covered or too small, in both languages."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.web.conftest import SIZES
from tests.web.scripted_table import ScriptedTable
from tests.web.test_replay_page import example, place_of
from tests.web.test_replay_page import show as show_replay

PORTRAIT, SIDEWAYS = [SIZES["phone"], (390, 664)], [(844, 390), (667, 375)]
HAND = ["2p", "3p", "4p", "6p", "7p", "8p", "2s", "3s", "4s", "P", "P", "E", "E"]
LONG = "somebody with a name"  # that is longer than those of most people
TOUCHED = 36  # pixels that what is pressed in play is high at least
OVERFLOWS = "(each) => each.scrollWidth > each.clientWidth"
# Whether a list would be wider if it had to show all of a text.
NEEDS_MORE = """(list, text) => {
  const copy = list.cloneNode(false);
  copy.append(new Option(text));
  copy.style.cssText = "width: max-content; max-width: none";
  list.after(copy);
  const wider = copy.getBoundingClientRect().width > list.getBoundingClientRect().width;
  copy.remove();
  return wider;
}"""
# Which tiles of a result lie under its scores; what of it is wider than it; whether it is seen, and its buttons.
RESULT = """(result) => {
  const outer = result.getBoundingClientRect();
  const shown = (selector) => [...result.querySelectorAll(selector)].filter((each) => each.checkVisibility());
  const boxes = (selector) => shown(selector).map((each) => each.getBoundingClientRect());
  const [scores] = boxes(".result-scores");
  const meet = (a, b) => Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1
    && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 1;
  const seen = ({ left, right, top, bottom }) =>
    left >= 0 && top >= 0 && right <= innerWidth && bottom <= innerHeight;
  return {
    covered: boxes(".tile").filter((tile) => meet(tile, scores)).length,
    wider: result.scrollWidth - result.clientWidth,
    seen: [outer, ...boxes("footer > *")].every(seen),
  };
}"""
# On how many lines a word of a title stands.
LINES_OF = """(title, word) => {
  const text = [...title.childNodes].find((node) => node.data.includes(word));
  const range = document.createRange();
  range.setStart(text, text.data.indexOf(word));
  range.setEnd(text, text.data.indexOf(word) + word.length);
  return new Set([...range.getClientRects()].map(({ top }) => top)).size;
}"""
FITS = {"covered": 0, "wider": 0, "seen": True}


@pytest.fixture(params=["en", "ja"])
def language(request: pytest.FixtureRequest, page: Page) -> str:
    """The language of the page."""
    page.add_init_script(f"localStorage.setItem('nukidora.language', '{request.param}')")
    return str(request.param)


def resize(page: Page, size: tuple[int, int]) -> None:
    """Give the window another size."""
    page.set_viewport_size({"width": size[0], "height": size[1]})


def win(table: ScriptedTable, count: int = 4) -> None:
    """Somebody else wins by ron, with that many yaku and a replaced north; the round is over."""
    for kind, keys in (("tsumo", {"pai": "?"}), ("nukidora", {"pai": "N"}), ("tsumo", {"pai": "?"})):
        table.say(kind, actor=1, **keys)
    table.say("dahai", actor=1, pai="9p", tsumogiri=False)
    table.say("tsumo", actor=0, pai="E")
    table.say("dahai", actor=0, pai="E", tsumogiri=True)
    table.say(
        "hora", actor=1, target=0, pai="E", uradora_markers=["1s", "2s"], fu=40, fan=count, hora_points=8000,
        hora_tehais=HAND, yakus=[["reach", 1], ["sangenpai", 1], ["ippatsu", 1], ["dora", 1], ["akadora", 1],
                                 ["uradora", 1], ["nukidora", 1], ["rinshan", 1]][:count],
        deltas=[-8200, 8200, 0], scores=[26800, 43200, 35000],
    )  # fmt: skip
    table.say("end_kyoku")


@pytest.mark.usefixtures("language")
def test_the_links_of_the_bar_are_on_one_line(page: Page) -> None:
    links = page.locator("body > header nav a")
    for path in ("/tournaments", "/view"):  # the bold words that are the longest
        page.goto(path)
        expect(links).to_have_count(6)
        for size in (*PORTRAIT, (375, 667), *SIDEWAYS):
            resize(page, size)
            assert len(set(links.evaluate_all("(all) => all.map((each) => each.offsetTop)"))) == 1, (path, size)


def test_a_list_cuts_no_letter_of_what_is_chosen(page: Page) -> None:
    for size in SIDEWAYS:
        resize(page, size)
        page.goto("/")
        opponent = page.locator(".lobby-play-form [name=opponent]").first
        expect(opponent).to_have_css("text-overflow", "ellipsis")
        assert not opponent.evaluate(NEEDS_MORE, "rule +60 – medium")


def test_the_results_in_the_lobby_have_whole_names(page: Page) -> None:
    for size in (SIZES["phone"], (667, 375)):
        resize(page, size)
        page.goto("/")
        names = page.locator(".lobby-results .lobby-name").filter(has_text="efficiency (house)")
        expect(names).not_to_have_count(0)
        assert not any(each.evaluate(OVERFLOWS) for each in names.all())


@pytest.mark.usefixtures("language")
def test_the_scores_of_a_replay_have_all_columns(page: Page) -> None:
    record = example()
    show_replay(page, record)
    page.keyboard.press("End")
    for size in (SIZES["desktop"], *PORTRAIT, *SIDEWAYS):
        resize(page, size)
        assert not page.locator(".scores .scroll").evaluate(OVERFLOWS), size


@pytest.mark.usefixtures("language")
def test_nothing_is_wider_than_a_narrow_phone(page: Page) -> None:
    resize(page, (320, 640))
    player = {
        "name": "W" * 40, "house_bot": False, "games": 1_234_567, "rated_games": 1_234, "firsts": 400, "seconds": 400,
        "thirds": 434, "rating": {"mu": 25.0, "sigma": 1.0, "ordinal": -122.0}, "mean_rank": 2.03, "mean_points": -1.5,
    }  # fmt: skip
    page.route("**/api/players?*", lambda asked: asked.fulfill(json={"items": [player], "next_cursor": None}))
    for path in ("/", "/view", "/rooms", "/players", "/tournaments", "/position"):
        page.goto(path)
        page.wait_for_load_state("networkidle")
        assert page.evaluate("document.documentElement.scrollWidth") == 320, path
    show_replay(page, example())
    assert page.evaluate("document.documentElement.scrollWidth") == 320


@pytest.mark.usefixtures("language")
def test_the_result_of_a_round_lies_over_the_table_of_a_replay(page: Page) -> None:
    record = example()
    show_replay(page, record)
    ends = [place_of(record, index + 1) for index, each in enumerate(record) if each["type"] == "end_kyoku"]
    for size in (*PORTRAIT, *SIDEWAYS):
        resize(page, size)
        for place in ends:
            page.evaluate("(place) => { document.querySelector('nuki-replay').go(place); scrollTo(0, 0); }", place)
            assert page.locator(".replay-below .result").evaluate(RESULT) == FITS, (size, place)


@pytest.mark.usefixtures("language")
@pytest.mark.parametrize("size", [*PORTRAIT, *SIDEWAYS])
def test_the_result_of_a_round_fits_and_begins_at_its_top(
    scripted: ScriptedTable, page: Page, size: tuple[int, int]
) -> None:
    resize(page, size)
    scripted.names = ["me", LONG, "left"]
    scripted.begin(HAND, dealer=1)
    dialog = page.locator(".play-dialog")
    for _ in range(2):
        win(scripted, 8)
        expect(dialog.locator(".result-yaku li")).to_have_count(8)
        assert dialog.evaluate(RESULT) == FITS
        assert dialog.evaluate("(dialog) => dialog.scrollTop") == 0  # also if the one before was read to its end
        dialog.evaluate("(dialog) => dialog.scrollTo(0, dialog.scrollHeight)")
        assert dialog.locator(".result-payments").is_visible()
        dialog.locator("footer button").click()
        expect(dialog).to_be_hidden()
        scripted.round(HAND, dealer=1)


@pytest.mark.parametrize("size", [SIZES["phone"], SIDEWAYS[0]])
@pytest.mark.parametrize("by_tsumo", [True, False])
def test_a_win_with_five_yaku_is_seen_whole(
    scripted: ScriptedTable, page: Page, language: str, size: tuple[int, int], by_tsumo: bool
) -> None:
    resize(page, size)
    scripted.names = ["me", "rule (house)", "efficiency (house)"]
    scripted.begin(HAND, dealer=1)
    scripted.say("tsumo", actor=1, pai="E")
    if not by_tsumo:
        scripted.say("dahai", actor=1, pai="E", tsumogiri=True)
    scripted.say(
        "hora", actor=2, target=2 if by_tsumo else 1, pai="E", uradora_markers=["1s"], fu=40, fan=5, hora_points=8000,
        hora_tehais=HAND, yakus=[["reach", 1], ["ippatsu", 1], ["sangenpai", 1], ["dora", 1], ["akadora", 1]],
        deltas=[-4000, -4000, 9000] if by_tsumo else [0, -8000, 9000], scores=[31000, 31000, 44000],
    )  # fmt: skip
    scripted.say("end_kyoku")
    dialog = page.locator(".play-dialog")
    expect(dialog.locator(".result-payments li")).to_have_count(3 if by_tsumo else 2)
    assert dialog.evaluate("(dialog) => dialog.scrollHeight <= dialog.clientHeight")
    assert dialog.evaluate(RESULT) == FITS
    if language == "ja":
        word = "のツモ和了" if by_tsumo else "のロン"
        assert dialog.get_by_role("heading").evaluate(LINES_OF, word) == 1


@pytest.mark.usefixtures("language")
@pytest.mark.parametrize("size", SIDEWAYS)
def test_the_buttons_of_a_phone_held_sideways_are_as_high_as_a_finger(
    scripted: ScriptedTable, page: Page, size: tuple[int, int]
) -> None:
    resize(page, size)
    scripted.settings |= {"hints": True, "rated": False}
    scripted.begin([*HAND[:9], "1m", "1m", "1m", "N"])
    scripted.draw(
        "1m", {"type": "hora", "target": 0, "pai": "1m"}, {"type": "reach"}, {"type": "nukidora", "pai": "N"},
        {"type": "ankan", "consumed": ["1m"] * 4},
    )  # fmt: skip
    expect(page.locator(".actions button")).to_have_count(4)
    expect(page.locator(".play-tools .chip")).to_be_visible()
    parts = page.locator(".play-side :is(button, .chip):visible").all()
    boxes = [part.bounding_box() for part in parts]
    assert len(boxes) == 4 + 5 + 4 + 1  # actions, switches, tools and the chip
    for number, box in enumerate(boxes):
        assert box is not None
        assert box["y"] + box["height"] <= size[1]
        assert number == len(boxes) - 1 or box["height"] >= TOUCHED - 1  # actions have 35.2 pixels
        for other in boxes[:number]:
            assert other is not None
            apart = max(box["x"] - other["x"] - other["width"], box["y"] - other["y"] - other["height"],
                        other["x"] - box["x"] - box["width"], other["y"] - box["y"] - box["height"])  # fmt: skip
            assert apart >= 0


@pytest.mark.parametrize(("size", "least"), [((390, 844), 40), ((390, 664), 36), ((375, 553), 28)])
def test_own_tiles_are_in_two_rows_on_a_phone_whatever_the_browser_leaves_of_it(
    scripted: ScriptedTable, page: Page, size: tuple[int, int], least: float
) -> None:
    resize(page, size)
    scripted.begin(HAND)
    scripted.draw("9s")
    tiles = page.locator(".seat.bottom .hand button")
    expect(tiles).to_have_count(14)
    boxes = tiles.evaluate_all("(all) => all.map((each) => each.getBoundingClientRect().toJSON())")
    assert min(box["width"] for box in boxes) >= least
    assert len({round(box["top"]) for box in boxes}) == 2
