"""What cards that lie open, and columns of cards, propose: every move of random games, and pictures of real sheets."""

from __future__ import annotations

import random
import sys
from collections import Counter
from dataclasses import replace
from pathlib import Path

import cv2
import numpy as np
import pypdfium2
import pytest

sys.path.insert(0, str(Path(__file__).parent))

from playing import ask, faces, kinds_of, new, options

from calibration.game_sheets import BASE_MARK_MM, CARD_MM, COLUMNS, ROWS, STEP_MM, faces_pdf
from referee.errors import CannotSee
from referee.games.catalogue import GAMES
from referee.games.nine_sum_towers import rules as nine
from referee.games.nine_sum_towers.door import OPEN_CARDS as NINE_CARDS
from referee.games.quarters_and_currencies import rules as quarters
from referee.games.quarters_and_currencies.door import OPEN_CARDS as QUARTER_CARDS
from referee.games.tower_bets.rules import STYLES, PlayCard
from referee.session.game_camera import CardCamera
from referee.vision.image.game_cards import Column, columns, open_cards

PX_PER_MM = 3.0
SIZE = (2000, 1500)
GAME_CARDS = {"nine_sum_towers": NINE_CARDS, "quarters_and_currencies": QUARTER_CARDS}
UNSEEN = (nine.EndTurn, quarters.PassTurn)


def propose_cards(match, seen):
    """What these open cards propose."""
    return match.game.proposal(match.state, tuple(seen))


def look(name, seed, commands=60):
    """(match before, command, after) of a random game, without what no card shows."""
    rng = random.Random(seed)
    match, _ = new(name, 3, seed)
    for _ in range(commands):
        if match.over:
            return
        command = rng.choice(options(match))
        after = ask(match, command)
        if not isinstance(command, UNSEEN):
            yield match, command, after
        match = after


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("name", ["nine_sum_towers", "quarters_and_currencies"])
def test_every_move_that_cards_show_is_proposed(name, seed):
    tried = 0
    for before, command, _ in look(name, seed, 150):
        after = before.game.decide(before.state, command).state
        if name == "quarters_and_currencies" and after.yard.count("") == 0 and after.turn != before.state.turn:
            continue  # what was refilled by the program at once lay never open together with what was paid
        must, may = GAME_CARDS[name].open_after(before.state, command, after)
        thief = isinstance(command, nine.PlayThief | nine.PlaySuperThief)
        seen = sorted((must + (may if thief else Counter())).elements())
        if Counter(seen) == GAME_CARDS[name].lying(before.state):
            continue
        told = propose_cards(before, seen)
        moves = [move for move in (told.command, *told.others) if move]
        same = [m for m in moves if before.game.decide(before.state, m).state == after]
        assert same or told.message.code == "game.camera.cards_many", (command, told.message)
        tried += 1
    assert tried > 8


def test_as_on_record_and_what_no_one_move_explains():
    match, _ = new("quarters_and_currencies", 3, 4)
    there = sorted(GAME_CARDS["quarters_and_currencies"].lying(match.state).elements())
    assert propose_cards(match, there).message == "as on record: 8 cards lie open"
    told = propose_cards(match, there[3:])
    assert told.command is None and "no one move" in told.message and there[0] in told.message


def test_a_scorers_hands_yard_and_money_are_read_in_card_by_card():
    match, _ = new("quarters_and_currencies", 3, 4, "scorer")
    told = propose_cards(match, ["a9", "b8", "c7"])
    assert told.command == quarters.ReadHand(0, ("a9", "b8", "c7"))
    for _ in range(3):
        match = ask(match, propose_cards(match, ["a9", "b8", "d9"]).command)
    for seen in (["1:2"], ["1:2", "6:9"]):
        told = propose_cards(match, seen)
        assert told.command == quarters.ReadIn(match.state.turn, seen[-1])
        match = ask(match, told.command)
    for card in ("2:4", "3:5", "b1", "b2", "c3", "d4"):
        match = ask(match, quarters.ReadIn(0, card))
    table, seat = ["1:2", "6:9", "2:4", "3:5", "b1", "b2", "c3", "d4"], match.state.turn
    assert propose_cards(match, table[:4] + ["c3", "d4"]).command == quarters.TakeMoney(seat, ("b1", "b2"))
    assert propose_cards(match, table[:4] + ["d4"]).command is None, "six are too many to take"
    assert propose_cards(match, [*table[1:], "a9"]).command == quarters.Buy(seat, 1, ("a9",))
    assert propose_cards(match, [*table[1:], "b8"]).command is None, "another place's currency"


def test_two_moves_that_look_alike_are_both_offered():
    match, _ = new("nine_sum_towers", 2, 1, "scorer")
    match = ask(match, nine.BuildStorey(0, "3", "6"))
    match = ask(match, nine.EndTurn(0))
    told = propose_cards(match, [])
    assert {told.command, *told.others} == {nine.Destroy(1, 0, "hammer"), nine.Destroy(1, 0, "ball")}
    assert propose_cards(match, ["hammer"]).command == nine.Destroy(1, 0, "hammer")
    assert not propose_cards(match, ["hammer"]).others


@pytest.mark.parametrize(
    ("grown", "says"),
    [({"B": 1}, "columns_odd"), ({"B": 6, "C": 1}, "columns_odd"), ({"B": 8}, "columns_odd"), ({}, "columns_same")],
)
def test_heights_that_no_one_card_leads_to_are_named(grown, says):
    state = replace(new("tower_bets", 3)[0].state, heights=(0, 4, 0, 0, 0))
    heights = dict(zip(STYLES, state.heights, strict=True)) | grown
    told = GAMES["tower_bets"].proposal(state, [Column(*row) for row in heights.items()])
    assert told.command is None and told.message.code == f"game.camera.{says}"


def card_image(deck, k) -> np.ndarray:
    """Card k of the deck, cut from the printed page, (h, w) grey."""
    page = pypdfium2.PdfDocument(faces_pdf("deck", [deck[k]]))[0]
    grey = page.render(scale=PX_PER_MM * 25.4 / 72, grayscale=True).to_numpy().squeeze()
    (width, height), (high, wide) = (v * PX_PER_MM for v in CARD_MM), grey.shape
    left, top = (wide - COLUMNS * width) / 2, (high - ROWS * height) / 2
    return grey[round(top) : round(top + height), round(left) : round(left + width)]


def laid(heights: dict[str, list[int]], rng: random.Random) -> np.ndarray:
    """A picture of the columns, each card laid by hand at its mark, seen from the side, (h, w, 3) uint8."""
    deck, kinds = faces("tower_bets"), kinds_of("tower_bets")
    first = {kinds[face.marker]: n for n, face in reversed(list(enumerate(deck)))}
    cloth = np.full((round(520 * PX_PER_MM), round(420 * PX_PER_MM)), 70, np.uint8)
    for column, (style, steps) in enumerate(heights.items()):
        x, y = 50 + 80 * column + rng.uniform(-3, 3), 55.0  # the card's middle, mm from the left and from below
        paste(cloth, card_image(deck, first[f"base {style}"]), x, y, rng)
        y += BASE_MARK_MM
        for step in steps:
            y += step * STEP_MM
            paste(cloth, card_image(deck, first[style]), x + rng.uniform(-2, 2), y + rng.uniform(-1, 1), rng)
    w, h = cloth.shape[::-1]
    seen = np.array([(380, 120), (1650, 90), (1960, 1450), (60, 1430)], np.float32) + rng.uniform(-30, 30)
    view = cv2.getPerspectiveTransform(np.array([(0, 0), (w, 0), (w, h), (0, h)], np.float32), seen)
    picture = cv2.warpPerspective(cloth, view, SIZE, flags=cv2.INTER_AREA, borderValue=90)
    noise = np.random.default_rng(rng.randrange(1 << 30)).normal(0, 3, picture.shape)
    grey = np.clip(cv2.GaussianBlur(picture, (0, 0), 0.7) * 0.85 + noise, 0, 255).astype(np.uint8)
    return cv2.cvtColor(grey, cv2.COLOR_GRAY2BGR)


def paste(cloth: np.ndarray, card: np.ndarray, x: float, y: float, rng: random.Random) -> None:
    """The card with its middle there, turned a little."""
    turn = cv2.getRotationMatrix2D((card.shape[1] / 2, card.shape[0] / 2), rng.uniform(-3, 3), 1.0)
    turn[:, 2] += (x * PX_PER_MM - card.shape[1] / 2, cloth.shape[0] - y * PX_PER_MM - card.shape[0] / 2)
    size = cloth.shape[::-1]
    there = cv2.warpAffine(np.full_like(card, 255), turn, size) > 127
    cloth[there] = cv2.warpAffine(card, turn, size)[there]


@pytest.mark.parametrize("seed", range(4))
def test_column_lengths_are_read_from_the_side(seed):
    rng = random.Random(seed)
    steps = {style: [rng.randint(1, 3) for _ in range(rng.randint(0, 9))] for style in STYLES}
    kinds = kinds_of("tower_bets")
    bases = {kinds.index(f"base {style}"): style for style in STYLES}
    styles = {kinds.index(style): style for style in STYLES}
    found = columns(
        open_cards(cv2.cvtColor(laid(steps, rng), cv2.COLOR_BGR2GRAY), len(kinds_of("tower_bets"))), bases, styles
    )
    assert [column.style for column in found] == list(STYLES)
    read = {column.style: (column.height, column.sure) for column in found}
    assert {style: high for style, (high, _) in read.items()} == {style: sum(s) for style, s in steps.items()}
    assert all(sure for _, sure in read.values())


def test_the_card_that_was_built_is_proposed_and_the_rules_refusal_with_it():
    rng = random.Random(9)
    match, _ = new("tower_bets", 3, 0, "scorer")
    camera = CardCamera(GAMES["tower_bets"])
    picture = laid({style: [2] if style == "D" else [] for style in STYLES}, rng)
    told = camera.look(match, picture).proposal
    assert told.command == PlayCard(2, "D", 2) and "reading" in told.refusal
    for pile in (1, 2, 3):
        match = ask(match, match.game.command({"command": "ReadIn", "seat": 0, "pile": pile, "style": "A"}))
    told = camera.look(match, picture).proposal
    assert told.command == PlayCard(2, "D", 2) and not told.refusal
    assert camera.look(ask(match, told.command), picture).proposal.message == "5 towers are as high as on record"


def test_a_picture_without_cards_or_without_a_base_is_one_clear_line():
    camera = CardCamera(GAMES["tower_bets"])
    match, _ = new("tower_bets", 3, 0, "scorer")
    with pytest.raises(CannotSee, match="no printed card"):
        camera.look(match, np.full((300, 400, 3), 200, np.uint8))
    deck = faces("tower_bets")
    with pytest.raises(CannotSee, match="no tower's base card"):
        camera.look(match, cv2.cvtColor(np.pad(card_image(deck, 0), 60, constant_values=70), cv2.COLOR_GRAY2BGR))
