"""The review pages, in process and in a real Chromium: filters, single frames, rulings, bundles."""

from __future__ import annotations

import io
import json
import re
import shutil
import subprocess
import sys
import time
import zipfile
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).parents[1] / "web"))

from browser import PATIENCE_MS, PHONE, PROJECTOR
from fake_session import FakeSession
from room import make_room

from cards.sentences import sentence, sentence_json
from referee.match.foul import foul_sentence
from referee.match.verdict import parse_wording
from referee.recording import Budget, load_attempt
from referee.recording.folder import REVIEW, append_line, write_json
from referee.recording.index import Index
from referee.recording.writer import UNFINISHED, truncation_record
from referee.web.app import create_app
from referee.web.server import Server

GOLDEN = Path(__file__).parents[2] / "referee" / "example" / "duel"
STORY = {
    "version": 1,
    "zones": {
        "A": {
            "placed": [{"seconds": 3.4, "color": "green", "shape": "rectangle", "area_mm2": 2500}],
            "hands": [[0.0, 1.8], [3.2, 3.8]],
            "first_touch": 3.4,
        },
        "B": {"placed": [], "hands": [], "first_touch": None},
    },
    "findings": [{"zone": "A", "finding": "fell_after_stop", "seconds": 10.0}],
}


@pytest.fixture
def session(kit, tmp_path):
    made = FakeSession(simulated=False)
    made.data_dir = tmp_path
    root = tmp_path / "attempts"
    sure = {"A": {"verdict": "match", "confidence": 0.97, "reasons": []}}
    kit.make_attempt(root / "M1-001", 1, verdicts=sure)
    open_ = {
        "verdict": "undecided",
        "confidence": 0.5,
        "reasons": [{"code": "hidden", "text": "a hand hides the build"}],
    }
    kit.make_attempt(root / "M1-002", 2, verdicts={"A": open_}, award=None)
    kit.make_attempt(
        root / "M2-001",
        3,
        verdicts=sure,
        match_id="M2",
        players={"A": "Cem", "B": "Dia"},
        human=[{"who": "Eve", "ruling": "mismatch", "why": "it leans"}],
    )
    collapse(root / "M3-001")
    return made


def collapse(folder):
    """The golden recording as an attempt with verdict and time line."""
    shutil.copytree(GOLDEN, folder)
    meta = json.loads((folder / "attempt.json").read_text())
    why = {"code": "wrong_support", "text": "the orange bridge stands on the wrong piece"}
    marks = [
        ("stop", 9.565, "A", {}),
        ("press", 10.2, "B", {"why": "late"}),
        ("settled", 10.7, None, {}),
        ("verdict", 11.5, "A", {}),
    ]
    shutil.copy(folder / "video.mp4", folder / "video_2.mp4")
    shutil.copy(folder / "frames.csv", folder / "frames_2.csv")
    said, note = sentence("cut_silence", at=6.2), sentence_json(sentence("judged_by", names=["front", "side"]))
    meta["second"] = {"camera": "side", "begins": 0.5, "dropped": [], **truncation_record(said)}
    meta["marks"] = [{"name": n, "seconds": s, "zone": z, **more} for n, s, z, more in marks]
    meta |= {
        "players": {"A": "Ann", "B": "Ben"},
        "match_id": "M3",
        "findings": {"A": ["fell_after_stop"]},
        "verdicts": {"A": {"verdict": "mismatch", "confidence": 0.99, "reasons": [why], "notes": [note]}},
    }
    write_json(folder / "attempt.json", meta)


@pytest.fixture
def told(monkeypatch):
    """The collapse's time line without the work."""
    monkeypatch.setattr("referee.web.pages.attempt_archive.kept_timeline", lambda attempt: STORY)


@pytest.fixture
def client(session):
    return create_app(session).test_client()


def names(page):
    return list(dict.fromkeys(re.findall(r'href="/attempts/(M\d-\d+)"', page)))


@pytest.mark.parametrize(("lang", "said"), [("en", "being recorded now"), ("de", "wird gerade aufgenommen")])
def test_a_duel_being_recorded_now_is_no_damaged_one(kit, session, lang, said):
    """One that an earlier run of the program left unfinished is."""
    client, root = create_app(session).test_client(), session.data_dir / "attempts"
    for name, at in (("M4-001", datetime.now(UTC)), ("M4-002", datetime.now(UTC) - timedelta(hours=2))):
        kit.make_attempt(root / name, 4, cut_short=UNFINISHED, recorded_at=at.isoformat(), match_id="M4")
    grid = client.get(f"/attempts?lang={lang}").text
    assert grid.count(said) == 1 and grid.count(UNFINISHED) == 1
    now, before = (client.get(f"/attempts/{name}?lang={lang}").text for name in ("M4-001", "M4-002"))
    assert said in now and UNFINISHED not in now
    assert said not in before and UNFINISHED in before


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("", ["M1-002", "M2-001", "M3-001", "M1-001"]),  # contested first, the hardest of them first
        ("?player=Cem", ["M2-001"]),
        ("?card=L00", ["M3-001"]),
        ("?verdict=undecided", ["M1-002"]),
        ("?show=overruled", ["M2-001"]),
        ("?show=undecided&player=Cem", []),
        ("?show=nonsense&card=", ["M1-002", "M2-001", "M3-001", "M1-001"]),
    ],
)
def test_the_grid_narrows_down(client, query, expected):
    found = names(client.get(f"/attempts{query}").get_data(as_text=True))
    assert sorted(found[:2]) == sorted(expected[:2]) and set(found) == set(expected)


def test_the_grid_has_pages_and_keeps_the_filters(client, session, kit):
    for n in range(2, 60):
        kit.make_attempt(session.data_dir / "attempts" / f"M1-{n + 10:03d}", n)
    seen = []
    address = "/attempts?player=Ann"
    while address:
        page = client.get(address).get_data(as_text=True)
        seen += names(page)
        assert "61 of 62 recorded duels" in page and len(names(page)) <= 24
        following = re.search(r'href="(/attempts\?[^"]*)" rel="next"', page)
        address = following and following.group(1).replace("&amp;", "&")
    assert len(seen) == len(set(seen)) == 61 and "M2-001" not in seen
    assert names(client.get("/attempts?page=99").get_data(as_text=True))  # the last page there is
    assert client.get("/attempts?page=x").status_code == 200


def test_the_grid_says_what_went_to_make_room(client, session):
    assert 'id="removed"' not in client.get("/attempts").get_data(as_text=True)
    root = session.data_dir / "attempts"
    removed, _ = make_room(root, Budget(most_bytes=0, free_bytes=0), session.clock.utc() + timedelta(days=1))
    assert [r.name for r in removed] == ["M1-001", "M3-001"]  # the others are undecided and overruled
    page = client.get("/attempts").get_data(as_text=True)
    assert "make room: 2 uncontested" in page and "last M3-001" in page and 'id="requested"' not in page
    append_line(root / "retention.jsonl", {"at": "2026-05-02T09:30", "removed": "M9-001", "bytes": 1, "who": "Eve"})
    page = client.get("/attempts").get_data(as_text=True)
    assert "somebody in them asked for it: 1, last on 2026-05-02" in page and "make room: 2 uncontested" in page


def test_a_duel_without_film_or_names_is_listed_without_a_torn_picture(client, session):
    folder = session.data_dir / "attempts" / "bare"
    folder.mkdir()
    write_json(folder / "attempt.json", {"card": "L01"})
    answer = client.get("/attempts/bare/picture.jpg")
    assert answer.status_code == 404 and answer.mimetype == "image/svg+xml" and "no picture" in answer.get_data(True)
    assert "bare · Card L01" in client.get("/attempts").get_data(as_text=True)


def test_one_attempt_says_why(client, told):
    page = client.get("/attempts/M3-001").get_data(as_text=True)
    assert "the orange bridge stands on the wrong piece" in page
    assert "It fell by itself after Stop." in page and "99 % sure" in page
    assert client.get("/attempts/M3-001/card.svg").mimetype == "image/svg+xml"
    assert client.get("/attempts/M3-001/picture.jpg").data[:2] == b"\xff\xd8"
    assert "judged by front and side" in page
    assert "beurteilt nach front und side" in client.get("/attempts/M3-001?lang=de").get_data(as_text=True)
    story = client.get("/attempts/M3-001/story.json").get_json()
    assert len(story["seconds"]) == 120 and story["timeline"]["findings"][0]["seconds"] == 10.0
    assert (
        story["second"][:2] == [0.5, 0.6] and "Film of the second camera: the camera gave no frame after 6.2 s" in page
    )
    assert [m["name"] for m in story["marks"]] == ["go", "stop", "press", "settled", "verdict"]


def test_where_the_first_camera_was_lost_the_steps_go_on_by_the_second(client, session, told):
    times = session.data_dir / "attempts" / "M3-001" / "frames.csv"
    times.write_text("".join(times.read_text().splitlines(keepends=True)[:51]))
    seconds = client.get("/attempts/M3-001/story.json").get_json()["seconds"]
    assert (len(seconds), seconds[49], seconds[-1]) == (50 + 75, 4.9, 12.4) and sorted(set(seconds)) == seconds


def test_the_video_is_served_in_ranges(client):
    with client.get("/attempts/M3-001/video.mp4", headers={"Range": "bytes=100-199"}) as part:
        assert part.status_code == 206
        assert part.data == (GOLDEN / "video.mp4").read_bytes()[100:200]


@pytest.mark.parametrize(
    "path",
    [
        "/attempts/nothing",
        "/attempts/..%2f..%2fetc",
        "/attempts/M1-001/video.mp4",
        "/attempts/M1-001/video_2.mp4",
        "/attempts/%2e%2e/story.json",
        "/attempts/pace/nobody",
        "/attempts/M3-001/overlay/99999.jpg",
    ],
)
def test_what_is_not_there_is_404(client, path):
    assert client.get(path).status_code == 404


def test_a_bundle_is_the_folder(client):
    data = client.get("/attempts/M1-002/bundle.zip").data
    with zipfile.ZipFile(io.BytesIO(data)) as bundle:
        assert {"M1-002/attempt.json", "M1-002/stop.png", "M1-002/deck.json"} <= set(bundle.namelist())


def post(client, path, **form):
    client.get("/attempts")
    with client.session_transaction() as kept:
        token = kept.get("csrf") or kept.setdefault("csrf", "token")
    return client.post(path, data={"csrf_token": token, **form})


def test_a_ruling_needs_who_and_why_and_alters_nothing_recorded(client, session):
    folder = session.data_dir / "attempts" / "M1-002"
    before = (folder / "attempt.json").read_bytes()
    for bad in ({"zone": "A", "why": ""}, {"zone": "Q", "why": "so"}):
        assert post(client, "/attempts/M1-002/ruling", ruling="match", who="Eve", **bad).status_code == 400
    assert load_attempt(folder).reviews() == []
    done = post(client, "/attempts/M1-002/ruling", zone="A", ruling="match", who="Eve", why="I saw it")
    assert done.status_code == 303
    assert [(r["who"], r["ruling"], r["why"]) for r in load_attempt(folder).reviews()] == [("Eve", "match", "I saw it")]
    assert (folder / "attempt.json").read_bytes() == before
    assert names(client.get("/attempts?show=unreviewed").get_data(as_text=True)).count("M1-002") == 0


def test_what_a_device_said_of_a_foul_is_said_in_the_readers_language(client, session):
    said = parse_wording(foul_sentence("shaken", "B"))
    row = {"kind": "foul", "who": "camera", "at": "2026-01-01T00:00:00+00:00", "player": "Ann", "why": said.text}
    append_line(session.data_dir / "attempts" / "M1-002" / REVIEW, row | {"said": said.to_json()})
    append_line(session.data_dir / "attempts" / "M1-002" / REVIEW, row | {"who": "Eve", "why": "she pushed"})
    page = client.get("/attempts/M1-002?lang=de").get_data(as_text=True)
    assert "Matte B wurde bewegt" in page and "she pushed" in page and "mat B was moved" not in page


def test_everything_is_the_referees(session):
    stranger = create_app(session, pin="4711-tongs", host="0.0.0.0").test_client()
    assert stranger.get("/attempts", headers={"Accept": "application/json"}).status_code == 401
    assert stranger.get("/attempts/M3-001/video.mp4").status_code == 401
    assert stranger.post("/attempts/M1-001/reviewed", data={"who": "x"}).status_code in (401, 403)


def test_the_pace_of_a_match_has_its_players(client, told):
    page = client.get("/attempts/pace/M3").get_data(as_text=True)
    assert "Ann" in page and "Ben" in page and "<rect" in page


def test_both_languages_say_everything():
    folder = Path(__file__).parents[2] / "referee" / "web" / "i18n" / "texts"
    texts = [json.loads((folder / f"attempts.{lang}.json").read_text()) for lang in ("en", "de")]
    assert texts[0].keys() == texts[1].keys()


@pytest.fixture
def page(browser, session, told):
    running = Server(create_app(session), "127.0.0.1", 0)
    context = browser.new_context(viewport=PROJECTOR, base_url=running.url)
    faults = []
    opened = context.new_page()
    opened.on("pageerror", lambda error: faults.append(str(error)))
    yield opened
    context.close()
    running.close()
    assert faults == []


BOTH_PLAY = """((one, two) => one.playbackRate === 0.5 && two.playbackRate === 0.5 && !two.paused
    && Math.abs(one.currentTime - two.currentTime - 0.5) < 0.15)(...document.querySelectorAll("video"))"""


@pytest.mark.slow
def test_the_video_plays_and_steps_by_single_frames_in_a_browser(page):
    page.goto("/attempts/M3-001")
    page.wait_for_selector("body[data-story=there]")
    until(page, "document.getElementById('video').readyState >= 2")
    assert page.evaluate("document.getElementById('video').duration") == pytest.approx(12.0, abs=0.2)
    page.evaluate("""() => { window.shown = []; const video = document.getElementById('video');
        const note = (now, meta) => { window.shown.push(meta.mediaTime);
                                      video.requestVideoFrameCallback(note); };
        video.requestVideoFrameCallback(note); }""")
    page.click("[data-do=stop]")
    at_stop = 95
    for step in range(1, 6):
        place(page, at_stop + step)
        assert shown(page) == pytest.approx((at_stop + step - 1) / 10, abs=0.01)
        until(page, f"Math.abs(document.getElementById('video-2').currentTime - {(at_stop + step - 5.5) / 10}) < 0.01")
        page.keyboard.press("ArrowRight")
    place(page, at_stop + 6)
    page.keyboard.press("ArrowLeft")
    place(page, at_stop + 5)
    page.keyboard.press("Shift+ArrowLeft")
    place(page, at_stop - 5)
    before = page.evaluate("document.getElementById('video').currentTime")
    page.click("[data-do=slow]")
    page.click("[data-do=play]")
    until(page, f"document.getElementById('video').currentTime > {before} + 0.3")
    until(page, BOTH_PLAY)
    page.click("[data-do=play]")
    until(page, "document.getElementById('video-2').paused")


@pytest.fixture
def killed(session):
    """A recording whose program was killed, before the pages' program began."""
    command = [
        sys.executable,
        str(Path(__file__).with_name("endless_recording.py")),
        str(session.data_dir / "attempts"),
        "0",
    ]
    folder = session.data_dir / "attempts" / "K-001"
    with subprocess.Popen(command, stdout=subprocess.PIPE) as program:
        program.stdout.readline()
        while (folder / "frames.csv").read_bytes().count(b"\n") < 60:
            time.sleep(0.02)
        program.kill()
    for name in ("deck.json", "pieces.json"):
        shutil.copyfile(GOLDEN / name, folder / name)


@pytest.mark.slow
def test_a_recording_whose_program_was_killed_plays_to_its_end_in_a_browser(killed, page):
    page.goto("/attempts/K-001")
    assert "the program ended while it was recording" in page.inner_text(".fault")
    page.wait_for_selector("body[data-story]")
    until(page, "document.getElementById('video').readyState >= 2")
    page.keyboard.press("ArrowRight")
    until(page, "document.getElementById('place').value.startsWith('2/')")
    page.click("[data-do=play]")
    until(page, "document.getElementById('video').ended")
    assert page.evaluate("document.getElementById('video').duration") > 0.5


def until(page, expression, seconds=PATIENCE_MS / 1000):
    """Wait for a JavaScript expression; the page's policy forbids playwright's own waiting by strings."""
    end = time.monotonic() + seconds
    while not page.evaluate(expression):
        assert time.monotonic() < end, expression
        page.wait_for_timeout(30)


NOTE_PLACES = """() => {
  const place = document.getElementById("place");
  window.places = [];
  const note = new MutationObserver(() => window.places.push(parseInt(place.value)));
  note.observe(place, {childList: true, subtree: true});
}"""
"""From now on the numbers of all frames that the page was at: while it plays, each is there for a tenth of a second."""


def place(page, number):
    until(page, f"document.getElementById('place').value.startsWith('{number}/120')")


def shown(page):
    """Media time of the frame on the screen, once the video has found it."""
    until(page, "!document.getElementById('video').seeking")
    page.wait_for_timeout(150)
    return page.evaluate("window.shown.at(-1)")


@pytest.mark.slow
def test_the_time_line_tells_and_jumps_and_a_human_rules(page):
    page.goto("/attempts")
    page.locator("a[href$='/M3-001']").first.click()
    page.wait_for_selector("body[data-story=there]")
    assert page.locator("#timeline ellipse.piece").count() == 1
    told = re.sub(r"\s+", " ", page.inner_text("#events"))
    for event in (
        "0.00 s Go",
        "8.06 s A Stop",
        "8.70 s B Press, after the other's Stop",
        "9.20 s Settled",
        "10.00 s A Verdict",
        "1.70 s A Hand in",
        "2.30 s A Hand out",
        "1.90 s A Placed: green rectangle",
    ):
        assert event in told
    page.evaluate(NOTE_PLACES)
    page.locator("#events tr", has_text="It fell by itself after Stop").get_by_role("button").click()
    until(page, "((v) => v.paused && v.currentTime >= 11)(document.getElementById('video'))")
    places = page.evaluate("window.places")
    assert places[0] == 91 and places[-1] > 110  # a second before it, played to a second after it
    assert page.evaluate("document.getElementById('video').getBoundingClientRect().top >= 0")
    page.keyboard.press("o")
    until(page, "document.getElementById('overlay').naturalWidth > 300")
    assert page.locator("#overlay").is_visible() and page.inner_text("#overlay-note") == ""
    page.click("[data-do=mark]")
    box = page.locator("#timeline").bounding_box()
    page.mouse.click(box["x"] + box["width"] / 2, box["y"] + 5)
    until(page, "/^(59|60|61)\\//.test(document.getElementById('place').value)")
    form = page.locator("form[action$='/ruling']")
    form.locator("[name=who]").fill("Eve")
    form.locator("[name=why]").fill("the tongs touched it")
    form.locator("[name=ruling]").select_option("void")
    form.get_by_role("button").click()
    page.locator("main", has_text="the tongs touched it").wait_for()  # the ruling's own page comes first


FOULS = [
    {"kind": "bare_hand", "zone": "A", "culprit": "A", "seconds": 3.0, "sure": 0.9},
    {"kind": "neighbours_hand", "zone": "B", "culprit": "A", "seconds": 6.0, "sure": 1.0},
]


@pytest.mark.slow
def test_a_proposed_foul_plays_the_two_seconds_around_it_and_the_next_one_its_own(page, monkeypatch):
    monkeypatch.setitem(STORY, "fouls", FOULS)
    page.goto("/attempts/M3-001")
    page.wait_for_selector("body[data-story=there]")
    bare, neighbour = (page.locator("#events tr", has_text="⚑").filter(has_text=t) for t in ("90 %", "100 %"))
    assert "(A)" in neighbour.inner_text() and "(A)" not in bare.inner_text()
    until(page, "document.getElementById('video').readyState >= 2")
    neighbour.get_by_role("button").click()
    until(page, "((v) => v.currentTime > 5.1 && !v.paused)(document.getElementById('video'))")
    bare.get_by_role("button").click()
    until(page, "((v) => v.currentTime < 4 && !v.paused)(document.getElementById('video'))")
    until(page, "document.getElementById('video').paused")
    assert 4.0 <= page.evaluate("document.getElementById('video').currentTime") < 5.0
    page.evaluate("document.getElementById('video').currentTime = 6.5")
    page.click("[data-do=play]")  # what is played by hand goes on, over the end of the clip that was left, too
    until(page, "document.getElementById('video').currentTime > 7.4")


@pytest.mark.slow
def test_the_grid_is_narrowed_down_and_says_who_reviewed_in_a_browser(page):
    page.goto("/attempts")
    page.get_by_label("Only").select_option("undecided")
    with page.expect_navigation():
        page.get_by_role("button", name="Show").click()
    shown = page.locator(".attempt-cell a").evaluate_all("links => links.map((a) => a.pathname)")
    assert shown == ["/attempts/M1-002"]
    page.locator("a[href$='/M1-002']").click()
    form = page.locator("form[action$='/reviewed']")
    form.locator("[name=who]").fill("Fay")
    with page.expect_navigation():
        form.get_by_role("button").click()
    page.goto("/attempts?player=Ann")
    cell = page.locator(".attempt-cell", has=page.locator("a[href$='/M1-002']"))
    assert "Fay" in cell.inner_text()
    with page.expect_download() as waiting:
        page.goto("/attempts/M1-002")
        page.get_by_role("link", name="Export").click()
    assert zipfile.ZipFile(waiting.value.path()).testzip() is None


AXE = Path(__file__).parents[1] / "web" / "node_modules" / "axe-core" / "axe.min.js"


@pytest.mark.slow
@pytest.mark.parametrize("path", ["/attempts", "/attempts/M3-001", "/attempts/pace/M3"])
def test_it_fits_a_phone_and_axe_finds_no_serious_fault(page, path):
    for scheme, size in (("light", PROJECTOR), ("dark", PHONE)):
        page.emulate_media(color_scheme=scheme)
        page.set_viewport_size(size)
        page.goto(path)
        page.wait_for_timeout(300)
        assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
        page.evaluate(AXE.read_text(encoding="utf-8"))
        found = page.evaluate("axe.run({resultTypes: ['violations']})")["violations"]
        assert [(v["id"], v["nodes"][0]["target"]) for v in found if v["impact"] in ("serious", "critical")] == []


def test_two_evenings_with_recordings_of_the_same_name_are_both_shown(client, session, kit):
    root = session.data_dir / "attempts"
    for evening, player in (("eve1", "Kim"), ("eve2", "Lou")):
        kit.make_attempt(root / evening / "M7-001", 1, match_id="M7", players={"A": player, "B": "Max"})
    page = client.get("/attempts?player=Max").text
    assert "2 of 6 recorded duels" in page and 'href="/attempts/eve1~M7-001"' in page
    for evening, player in (("eve1", "Kim"), ("eve2", "Lou")):
        assert f"{player} – Max" in client.get(f"/attempts/{evening}~M7-001").text
        post(client, f"/attempts/{evening}~M7-001/reviewed", who=player)
        assert load_attempt(root / evening / "M7-001").reviews()[0]["who"] == player
    assert client.get("/attempts/M7-001").status_code == 404  # which of the two?


@pytest.mark.parametrize("few", [2, 2_000], ids=["a large archive", "a small one"])
def test_a_page_shows_what_the_folders_say_now(client, session, kit, monkeypatch, few):
    monkeypatch.setattr("referee.web.pages.attempt_archive.SMALL_ARCHIVE", few)
    monkeypatch.setattr("referee.web.pages.attempt_archive.LOOK_EVERY_S", 1e9)
    root = session.data_dir / "attempts"
    assert "4 of 4 recorded duels" in client.get("/attempts").text
    told = json.loads((root / "M1-001" / "attempt.json").read_text())
    write_json(root / "M1-001" / "attempt.json", told | {"players": {"A": "Zoe", "B": "Yan"}})
    shutil.rmtree(root / "M2-001")
    (root / "M1-002" / "attempt.json").write_text("{")
    page = client.get("/attempts").text
    assert "2 of 2 recorded duels" in page and "Zoe – Yan" in page and names(page) == ["M1-001", "M3-001"]
    assert "Zoe – Yan" in client.get("/attempts/M1-001").text and client.get("/attempts/M2-001").status_code == 404
    assert names(client.get("/attempts?player=Zoe").text) == ["M1-001"]


def test_a_page_agrees_with_itself_while_the_index_is_brought_up_to_date(client, session, monkeypatch):
    assert "4 of 4 recorded duels" in client.get("/attempts").text
    monkeypatch.setattr("referee.web.pages.attempt_archive.SMALL_ARCHIVE", 2)
    monkeypatch.setattr("referee.web.pages.attempt_archive.Archive._look_beside", lambda archive: None)
    (session.data_dir / "attempts" / "M1-002" / "attempt.json").write_text("{")
    asked = Index.page

    def asked_meanwhile(index, *arguments):
        paths = asked(index, *arguments)
        index.refresh(thorough=True)  # as the thread does that reads a large archive
        return paths

    monkeypatch.setattr(Index, "page", asked_meanwhile)
    page = client.get("/attempts").text
    assert "3 of 3 recorded duels" in page and len(names(page)) == 3


@pytest.mark.parametrize(("lang", "said"), [("en", "no frame after 3.5 s"), ("de", "nach 3,5 s kein Bild mehr")])
def test_why_a_recording_is_not_whole_is_said_in_the_readers_language(client, session, kit, lang, said):
    root = session.data_dir / "attempts"
    kit.make_attempt(root / "M8-001", match_id="M8", **truncation_record(sentence("cut_silence", at=3.5)))
    kit.make_attempt(root / "M8-002", match_id="M8", cut_short="as an older version wrote")
    for address in ("/attempts", "/attempts/M8-001"):
        assert said in client.get(f"{address}?lang={lang}").text
    assert "as an older version wrote" in client.get("/attempts/M8-002?lang=de").text


def test_a_page_says_what_it_has_not_read_yet(client, session, kit, monkeypatch):
    monkeypatch.setattr("referee.web.pages.attempt_archive.READ_AT_ONCE_S", -1.0)
    read = []
    monkeypatch.setattr("referee.web.pages.attempt_archive.Archive._look_beside", lambda archive: read.append(archive))
    page = client.get("/attempts?lang=de").text
    assert "4 aufgezeichnete Duelle sind noch nicht im Verzeichnis" in page and names(page) == [] and len(read) == 1
    read[0].index.refresh()
    assert 'id="unread"' not in client.get("/attempts").text


def test_neighbours_lead_through_all_attempts_in_the_order_of_the_grid(client, session, kit):
    for n in range(2, 12):
        kit.make_attempt(session.data_dir / "attempts" / f"M1-{n + 10:03d}", n)
    order = names(client.get("/attempts").text)
    walked, at = [], order[0]
    while at:
        walked.append(at)
        page = client.get(f"/attempts/{at}").text
        before, after = (re.search(rf'href="/attempts/([^"]*)" rel="{way}"', page) for way in ("prev", "next"))
        assert (before and before.group(1)) == (walked[-2] if len(walked) > 1 else None)
        at = after and after.group(1)
    assert walked == order and len(order) == 14
