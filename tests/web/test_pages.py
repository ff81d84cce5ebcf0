"""Every page loads, and nothing but this server is asked for anything."""

from __future__ import annotations

import re
from typing import Literal

import httpx
import pytest
from playwright.sync_api import Page, expect

from agents.review.modules import IMPORT, with_imports
from server.pages import HEADERS, MEDIA_TYPES, PAGES, WEB, read_files
from tests.support.accessibility import AXE, serious_faults
from tests.web.conftest import ANSWER, Site, both_sizes

PATHS = ["/", "/view", "/rooms", "/players"]
FILES = read_files()
# What tells the browser which colours to draw with, and the page's own ground.
BY_THE_BROWSER = """() => {
  const { colorScheme: scheme, scrollbarColor: scrollbars, backgroundColor: ground } =
    getComputedStyle(document.documentElement);
  return { scheme, scrollbars, ground };
}"""
LINK = re.compile(r'(?:href|src)="(?P<path>[^"#]+)"')


@pytest.fixture(scope="module")
def http(site: Site) -> httpx.Client:
    """A client that is no browser."""
    return httpx.Client(base_url=site.url, trust_env=False, timeout=ANSWER)


def path_of(page: str, name: str = "x") -> str:
    """An address of a page."""
    return re.sub(r"\{\w+\}", name, page)


@both_sizes
@pytest.mark.parametrize("colours", ["light", "dark"])
@pytest.mark.parametrize("path", [*PATHS, "/players/rule"])
def test_a_page_loads_and_axe_finds_no_serious_fault(page: Page, path: str, colours: Literal["light", "dark"]) -> None:
    page.emulate_media(color_scheme=colours)
    response = page.goto(path)
    assert response is not None
    assert response.status == 200
    assert page.title().endswith("nukidora")
    page.wait_for_load_state("networkidle")
    if not AXE.exists():
        pytest.skip("axe-core is missing: make node_modules/installed")
    assert serious_faults(page) == []


def test_a_percent_sign_in_an_address_need_not_be_encoded(failing_page: Page) -> None:
    failing_page.goto("/players/100%")
    expect(failing_page.locator("main, .error").filter(has_text="100%")).not_to_have_count(0)


@pytest.mark.parametrize("path", PATHS)
def test_a_page_works_where_the_browser_blocks_its_storage(page: Page, path: str) -> None:
    for name in ("localStorage", "sessionStorage"):
        page.add_init_script(f"Object.defineProperty(window, {name!r}, {{ get() {{ throw new Error(); }} }})")
    page.goto(path)
    page.get_by_role("button", name="Colours: as the system").click()
    expect(page.get_by_role("button", name="Colours: light")).to_be_visible()


@pytest.mark.parametrize("system", ["light", "dark"])
def test_what_the_browser_itself_draws_has_the_colours_of_the_page(
    page: Page, system: Literal["light", "dark"]
) -> None:
    """Fields by `color-scheme`; scrollbars by their own colours, since Firefox may have white ones in both schemes."""
    page.emulate_media(color_scheme=system)
    page.goto("/view")
    grounds = {}
    for name, scheme in (("as the system", "light dark"), ("light", "light"), ("dark", "dark")):
        expect(page.get_by_role("button", name=f"Colours: {name}")).to_be_visible()
        found = page.evaluate(BY_THE_BROWSER)
        assert found["scheme"] == scheme
        assert found["scrollbars"].endswith(found["ground"])
        grounds[name] = found["ground"]
        page.get_by_role("button", name="Colours").click()
    assert grounds["light"] != grounds["dark"]
    assert grounds["as the system"] == grounds[system]


# Files ----------------------------------------------------------------------------------------------------------------


def test_the_modules_of_all_pages_and_what_they_import_exist() -> None:
    assert {f"{module}.js" for _, module in PAGES.values()} <= FILES.keys()
    for name, content in FILES.items():
        if name.endswith(".js"):
            text = content.decode()
            imported = re.findall(r"""^(?:import\b|export\b|\}).*? ["']([^"']+)["'];$""", text, re.MULTILINE)
            assert {f"./{found}" for _, found in IMPORT.findall(text)} == set(imported), name
            assert {found for _, found in IMPORT.findall(text)} <= FILES.keys(), name


def test_the_modules_of_a_page_are_found_through_others() -> None:
    files = {
        "a.js": 'import { x,\n  y } from "./b.js";\nimport "./c.js";\nconst z = "./d.js";\n',
        "b.js": "export * from './c.js';\n// import './d.js';\n/** @typedef {import('./d.js').D} D */\n",
        "c.js": 'import { x } from "./a.js";\n',
    }
    assert list(with_imports("a.js", files.__getitem__)) == ["a.js", "b.js", "c.js"]


@pytest.mark.parametrize("page", PAGES)
def test_a_page_asks_for_its_modules_at_once_and_for_nothing_of_another_host(http: httpx.Client, page: str) -> None:
    response = http.get(path_of(page))
    assert response.status_code == 200
    assert response.headers["content-type"] == "text/html; charset=utf-8"
    found = LINK.findall(response.text)
    folder = found[0].rpartition("/")[0]
    assert re.fullmatch(r"/web/[0-9a-f]{32}", folder)
    modules = [f"{folder}/{name}" for name in with_imports(f"{PAGES[page][1]}.js", lambda name: FILES[name].decode())]
    assert set(found) == {f"{folder}/icon.svg", f"{folder}/style.css", *modules}
    for path in found:
        assert http.get(path).status_code == 200


def test_every_file_is_sent_with_its_type_and_strict_headers(http: httpx.Client) -> None:
    folder = LINK.findall(http.get("/").text)[0].rpartition("/")[0]
    for name, content in FILES.items():
        for path, cached in ((f"{folder}/{name}", "immutable"), (f"/web/{name}", "no-cache")):
            response = http.get(path)
            assert response.content == content
            assert response.headers["content-encoding"] == "gzip"
            media_type = MEDIA_TYPES["." + name.rpartition(".")[2]]
            assert response.headers["content-type"].partition(";")[0] == media_type
            assert response.headers.items() >= {key.lower(): value for key, value in HEADERS.items()}.items()
            assert cached in response.headers["cache-control"]


def test_the_content_security_policy_lets_nothing_else_in(http: httpx.Client) -> None:
    rules = dict(rule.split(" ", 1) for rule in http.get("/").headers["content-security-policy"].split("; "))
    assert rules.pop("default-src") == "'none'"
    assert set(rules.values()) == {"'self'", "'none'"}
    assert {rules[name] for name in ("base-uri", "form-action", "frame-ancestors")} == {"'none'"}


def test_no_page_has_scripts_or_styles_of_its_own(http: httpx.Client) -> None:
    for page in PAGES:
        text = http.get(path_of(page)).text
        assert re.search(r"<style|\sstyle=|\son\w+=|<script(?![^>]* src=)", text) is None


def test_no_script_makes_markup_of_a_text() -> None:
    """So names, messages and whatever else strangers send stays text on every page."""
    made = re.compile(rb"innerHTML|outerHTML|insertAdjacentHTML|document\.write|DOMParser|createContextualFragment")
    assert [name for name, content in FILES.items() if name.endswith(".js") and made.search(content)] == []


def test_all_files_of_the_folder_are_sent() -> None:
    assert {file.name for file in WEB.iterdir() if file.is_file()} <= FILES.keys()
    assert {file.suffix for file in (WEB / "css").iterdir()} == {".css"}


# Requests -------------------------------------------------------------------------------------------------------------


def test_a_file_that_the_browser_has_is_not_sent_again(http: httpx.Client) -> None:
    for path in ("/", "/web/style.css"):
        first = http.get(path)
        for known in (first.headers["etag"], f'"x", {first.headers["etag"]}', "*"):
            again = http.get(path, headers={"If-None-Match": known})
            assert (again.status_code, again.content) == (304, b"")
            assert again.headers["etag"] == first.headers["etag"]
            assert "content-security-policy" in again.headers
        assert http.get(path, headers={"If-None-Match": 'W/"x"'}).status_code == 200


def test_only_who_accepts_gzip_gets_it(http: httpx.Client) -> None:
    for accepted, encoding in (("gzip", "gzip"), ("br, gzip", "gzip"), ("", None), ("x-gzip, br", None)):
        response = http.get("/web/words.js", headers={"Accept-Encoding": accepted})
        assert response.headers.get("content-encoding") == encoding
        assert response.content == FILES["words.js"]


def test_head_and_other_methods(http: httpx.Client) -> None:
    for path in ("/", "/players/a%2Fb", "/web/style.css"):
        known, response = http.get(path), http.head(path)
        assert (response.status_code, response.content) == (200, b"")
        for name in ("content-type", "content-length", "etag", "content-security-policy"):
            assert response.headers[name] == known.headers[name]
        refused = http.put(path)
        assert (refused.status_code, set(refused.headers["allow"].split(", "))) == (405, {"GET", "HEAD"})
        assert refused.json() == {"detail": "Method Not Allowed"}


@pytest.mark.parametrize(
    "name", ["a%2Fb", "%2F", "%E6%9D%B1", "%3Cimg%20onerror=x%3E", "a+b+c", "..%2F..", "%00", "%FF"]
)
def test_names_in_paths_may_be_anything(http: httpx.Client, name: str) -> None:
    for page in PAGES:
        response = http.get(path_of(page, name))
        assert response.status_code == 200
        assert "onerror" not in response.text


@pytest.mark.parametrize(
    "path",
    [
        "/web/", "/web/css/00_base.css", "/web/../settings.py", "/web/%2e%2e/settings.py", "/web/..%2fsettings.py",
        "/web//style.css", "/web/style.css/", "/web/style%2ecss", "/web/words.js%00", "/web/0123/words.js",
        "/pages.py", "/games", "/players/a/b", "/rooms/a",
    ],
)  # fmt: skip
def test_nothing_else_is_sent(site: Site, path: str) -> None:
    with httpx.Client(trust_env=False, timeout=ANSWER) as http:
        request = http.build_request("GET", site.url)
        request.url = httpx.URL(site.url).copy_with(raw_path=path.encode())  # as it is
        response = http.send(request)
        assert (response.status_code, response.json()) == (404, {"detail": "Not Found"})
        request.headers["accept"] = "text/html,*/*;q=0.8"
        response = http.send(request)
        assert response.status_code == 404
        assert "There is no such page" in response.text
        assert "このページはありません" in response.text
        assert "content-security-policy" in response.headers


def test_the_api_answers_browsers_in_json(http: httpx.Client) -> None:
    for path in ("/api/nothing", "/api/games/nothing"):
        response = http.get(path, headers={"Accept": "text/html"})
        assert response.status_code == 404
        assert response.json().keys() <= {"detail", "code", "values", "codes"}
        assert "detail" in response.json()


def test_several_people_may_look_at_once_from_one_address(site: Site) -> None:
    """Twenty people open the lobby for the first time: all of its files, and some requests of the API each."""
    with httpx.Client(base_url=site.url, trust_env=False, timeout=ANSWER) as http:
        links = LINK.findall(http.get("/").text)
        paths = ["/", *links, "/api/server", "/api/rooms"]
        statuses = {http.get(path).status_code for _ in range(20) for path in paths}
    assert statuses == {200}
