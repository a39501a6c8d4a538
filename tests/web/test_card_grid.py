"""A card named by hand is a picture to press: typing leaves those that fit, a press names one."""

from __future__ import annotations

import pytest
from console_driver import Console
from playwright.sync_api import expect


@pytest.mark.slow
def test_a_card_is_named_by_its_picture(browser, server, session):
    context = browser.new_context()
    console = Console(context.new_page(), session, server.url, True)
    console.new_match(["Ann", "Ben", "Cem", "Dia"])
    console.page.keyboard.press("h")
    box = console.page.locator("#dialog-draw")
    cards = box.locator("[data-pick-card]")
    expect(cards).to_have_count(len(session.deck.cards))
    box.locator("[name=card_id]").fill("l0")
    expect(box.locator("[data-pick-card]:not([hidden])")).to_have_count(9)
    picture = box.locator("[data-pick-card=L07]")
    picture.click()
    expect(picture).to_have_attribute("aria-pressed", "true")
    picture.locator("img").evaluate("img => img.decode()")
    assert picture.locator("img").evaluate("img => img.getBoundingClientRect().height") > 40
    expect(box.locator("[name=card_id]")).to_have_value("L07")
    box.locator("[type=submit]").click()
    console.phase("card_drawn")
    assert session.state.card_id == "L07"
    context.close()
