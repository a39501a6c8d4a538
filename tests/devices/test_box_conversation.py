"""The conversation with the box as timelines: no port, no thread, no waiting."""

import pytest

from referee.devices.box_conversation import NOISY_S, RESEND_S, SILENT_S, TRIES, BoxTalk
from referee.devices.box_protocol import Message

ZERO_S = 100.0  # host time at which this box was started


def box_us(at_s):
    """The box's reading at a host time; its clock is perfect here."""
    return int((at_s - ZERO_S) * 1e6)


class Desk:
    """A BoxTalk with a hand on its time; ``said`` collects what it wrote, ``told`` the notices."""

    def __init__(self, **options):
        self.talk, self.now_s, self.said, self.told = BoxTalk(**options), ZERO_S + 5, [], []
        self.talk.begin(self.now_s)

    def wait(self, seconds):
        """Let time pass in small steps; gives what was written meanwhile."""
        before, end_s = len(self.said), self.now_s + seconds
        while self.now_s < end_s:
            self.now_s += 0.005
            for sentence in self.talk.due(self.now_s):
                self.talk.wrote(sentence, self.now_s)
                self.said.append(sentence)
        return self.said[before:]

    def hear(self, kind, number, *fields, at_s=None, protocol=1):
        """A sentence of the box arrives, stamped with the present time if with none."""
        stamp = box_us(self.now_s if at_s is None else at_s)
        notices = self.talk.hear(Message(kind, number, (stamp, *fields), protocol).encode(), self.now_s)
        self.told += notices
        return [n.kind for n in notices]

    def meet(self, boot=1, first=1, last=0, name="BOX1"):
        """The hello is answered."""
        hello = next(s for s in self.wait(0.01) if s.kind == "RFHEL")
        self.wait(0.002)
        return self.hear("BXHEL", hello.number, "1.0", name, boot, 4, first, last, 0)


@pytest.fixture
def desk():
    """A conversation past its hello."""
    desk = Desk()
    desk.meet()
    return desk


def kinds(sentences):
    return [s.kind for s in sentences]


def test_hello_is_repeated_until_answered():
    desk = Desk()
    assert kinds(desk.wait(3 * RESEND_S)) == ["RFHEL"] * 3
    assert desk.meet() == ["found"]
    assert "RFHEL" not in kinds(desk.wait(1.0))


def test_a_box_of_another_name_is_not_met():
    desk = Desk(wanted="red")
    assert desk.meet(name="blue") == ["foreign"] and not desk.talk.met and desk.talk.foreign
    assert desk.told[-1].text == "the box that answers is blue, not red"
    assert desk.hear("BXPRS", 1, 0, 1) == [], "nothing it says counts"
    desk.talk.begin(desk.now_s)
    assert desk.meet(name="blue") == [], "said once"
    desk.talk.begin(desk.now_s)
    assert desk.meet(name="red") == ["found"]


def test_a_late_host_asks_for_what_happened_before_it_came():
    desk = Desk()
    desk.meet(first=3, last=4)
    assert [s.fields for s in desk.wait(0.01) if s.kind == "RFRSN"] == [(3,)]
    assert desk.hear("BXPRS", 3, 1, 1) == ["press"]
    assert desk.talk.counters.gone == 0


def test_a_gap_is_noticed_asked_for_and_told_in_order(desk):
    assert desk.hear("BXPRS", 2, 0, 1) == []
    assert [s.fields for s in desk.wait(0.01) if s.kind == "RFRSN"] == [(1,)]
    assert desk.hear("BXGOO", 1) + desk.hear("BXPRS", 2, 0, 1) == ["go", "press"]
    assert desk.talk.counters.missed == 1


def test_a_lost_last_line_shows_in_the_next_clock_reply(desk):
    query = next(s for s in desk.wait(0.3) if s.kind == "RFCLK")
    desk.hear("BXCLK", query.number, 1, 1, 1)
    assert "RFRSN" in kinds(desk.wait(0.01))


def test_a_doubled_line_is_told_once_and_every_event_acknowledged(desk):
    assert desk.hear("BXPRS", 1, 0, 1) == ["press"]
    assert desk.hear("BXPRS", 1, 0, 1) == []
    assert [s.fields for s in desk.wait(0.01) if s.kind == "RFACK"] == [(1, 1)]
    assert desk.talk.counters.doubled == 1


def test_events_the_box_no_longer_has_are_counted_and_told(desk):
    query = next(s for s in desk.wait(0.3) if s.kind == "RFCLK")
    assert desk.hear("BXCLK", query.number, 1, 5, 5) == ["events_lost"]
    assert desk.told[-1].text == "4 presses of the button box are lost"
    assert desk.talk.counters.gone == 4
    assert desk.hear("BXPRS", 5, 0, 1) == ["press"]


def test_commands_wait_for_the_answer_to_the_one_before(desk):
    desk.talk.command("RFARM", now_s=desk.now_s)
    desk.talk.command("RFGOO", now_s=desk.now_s)
    said = [s for s in desk.wait(2 * RESEND_S) if s.kind in ("RFARM", "RFGOO")]
    assert kinds(said) == ["RFARM"] * 2 and said[0] == said[1]
    desk.hear("BXACK", said[0].number, "armed")
    assert "RFGOO" in kinds(desk.wait(0.01))
    assert desk.talk.queue.resent == 1


def test_a_command_that_is_never_answered_is_given_up(desk):
    desk.talk.command("RFARM", now_s=desk.now_s)
    said = desk.wait((TRIES + 3) * RESEND_S)
    assert kinds(said).count("RFARM") == TRIES
    assert desk.talk.queue.given_up == 1


def test_commands_do_not_outlive_the_connection(desk):
    desk.talk.command("RFGOO", now_s=desk.now_s)
    desk.talk.end()
    desk.talk.begin(desk.now_s)
    desk.meet()
    assert "RFGOO" not in kinds(desk.wait(1.0))


def test_silence_is_noticed(desk):
    desk.wait(SILENT_S - 0.1)
    assert not desk.talk.silent(desk.now_s)
    desk.wait(0.2)
    assert desk.talk.silent(desk.now_s)


def test_a_restart_is_told_and_its_events_count_anew(desk):
    desk.hear("BXPRS", 1, 0, 0)
    assert desk.hear("BXBOT", 1, 2) == []
    assert desk.meet(boot=2, last=1) == ["reset"]
    assert desk.hear("BXBOT", 1, 2) == [] and desk.hear("BXPRS", 2, 1, 1) == ["press"]


def test_a_restart_whose_first_line_was_lost_shows_in_the_clock_reply(desk):
    query = next(s for s in desk.wait(0.3) if s.kind == "RFCLK")
    desk.hear("BXCLK", query.number, 2, 1, 1)
    assert desk.meet(boot=2, last=1) == ["reset"]


def test_a_press_from_the_future_is_doubted_and_believed_when_said_again(desk):
    assert desk.hear("BXPRS", 1, 0, 1, at_s=desk.now_s + 50) == []
    assert desk.talk.counters.implausible == 1
    assert desk.hear("BXPRS", 1, 0, 1) == ["press"]


def test_a_press_has_the_hosts_time_and_a_bound(desk):
    pressed_s = desk.now_s
    desk.wait(0.02)
    desk.hear("BXPRS", 1, 1, 1, at_s=pressed_s)
    press = desk.told[-1].press
    assert abs(press.at_s - pressed_s) <= press.error_s < 0.01
    assert (press.player, press.box_us) == (1, box_us(pressed_s))


def test_a_press_outside_a_duel_is_only_tried_and_a_held_one_is_marked(desk):
    assert desk.hear("BXPRS", 1, 0, 0) == ["tried"]
    assert desk.hear("BXHLD", 2, 3) == ["held_at_go"]
    assert desk.told[-1].press.player == desk.told[-1].player == 3


def test_garbage_is_told_at_most_once_a_second(desk):
    told = [len(desk.talk.hear(b"\xff" * 10, desk.now_s + n * 0.1)) for n in range(25)]
    assert sum(told) == 3 and desk.talk.lines.garbage == 250


class Desk2(Desk):
    """The same with a box of firmware 2, past its hello in protocol 2."""

    def __init__(self, **options):
        super().__init__(**options)
        self.agree()

    def agree(self, boot=1, last=0, name="BOX1"):
        """Both hellos are answered; gives the notices."""
        old = next(s for s in self.wait(0.3) if s.kind == "RFHEL" and s.protocol == 1)
        assert self.hear("BXHEL", old.number, "2.0", name, boot, 4, 1, last, 0) == []
        new = next(s for s in self.wait(0.3) if s.kind == "RFHEL" and s.protocol == 2)
        assert new.fields == (2,)
        return self.hear2("BXHEL", new.number, 2, "2.0", name, boot, 4, 1, last, 0)

    def hear2(self, *words, **options):
        return self.hear(*words, **options, protocol=2)


@pytest.fixture
def desk2():
    desk = Desk2()
    assert desk.talk.met and desk.talk.protocol == 2 and [n.kind for n in desk.told] == ["found"]
    return desk


def test_a_box_of_firmware_2_is_spoken_to_in_protocol_2(desk2):
    desk2.talk.command("RFGOO", 1, now_s=desk2.now_s)
    assert {s.protocol for s in desk2.wait(0.5)} == {2}
    assert desk2.hear2("BXGOO", 1, "BOX1", 1, 1) == ["go"]
    assert desk2.hear2("BXPRS", 2, 0, 1, "BOX1", 1, 1) == ["press"]
    assert desk2.told[-1].box_id == "BOX1"


def test_in_protocol_2_nothing_of_protocol_1_is_believed(desk2):
    assert desk2.hear("BXPRS", 1, 0, 1) == []
    assert [s.protocol for s in desk2.wait(0.1) if s.kind == "RFHEL"] == [1], "it may have been restarted: ask"


@pytest.mark.parametrize(("name", "boot"), [("BLUE", 1), ("BOX1", 2)])
def test_a_press_of_another_box_or_another_start_is_not_believed(desk2, name, boot):
    assert desk2.hear2("BXPRS", 1, 0, 1, name, boot, 1) == []
    assert desk2.talk.counters.foreign == 1
    assert "RFHEL" in kinds(desk2.wait(0.1))


def test_a_restart_falls_back_to_protocol_1_and_agrees_anew(desk2):
    desk2.hear("BXBOT", 1, 2)
    assert desk2.agree(boot=2, last=1) == ["reset"]
    assert desk2.hear2("BXBOT", 1, 2, 1) == []
    assert desk2.hear2("BXPRS", 2, 1, 1, "BOX1", 2, 1) == ["press"]


@pytest.mark.parametrize(
    ("kind", "fields", "told", "text"),
    [
        ("BXFLS", (1,), "false_start", "player 1 left the mark before the go"),
        ("BXNOI", (4,), "noisy", "the line of Start/Next is noisy: look at its cable"),
        ("BXQUI", (0,), "quiet", "the line of button 0 is quiet again"),
    ],
)
def test_what_protocol_2_tells_besides(desk2, kind, fields, told, text):
    assert desk2.hear2(kind, 1, *fields) == [told]
    assert desk2.told[-1].text == text and desk2.told[-1].player == fields[0]


def test_how_the_lines_are_comes_with_the_clock(desk2):
    query = next(s for s in desk2.wait(0.3) if s.kind == "RFCLK")
    desk2.hear2("BXCLK", query.number, 1, 1, 0, 0b1_1_0_1_0_0_0_1_0)
    assert desk2.talk.facts.noisy_lines() == [1]
    assert desk2.talk.facts.pads() == {0: True, 1: False}


def test_a_press_on_a_noisy_line_is_good_to_a_mains_period(desk2):
    """It comes after the word that the line is noisy, however late both are heard."""
    desk2.hear2("BXPRS", 1, 1, 0, "BOX1", 1, 1)
    desk2.hear2("BXNOI", 2, 1)
    query = next(s for s in desk2.wait(0.3) if s.kind == "RFCLK")
    desk2.hear2("BXCLK", query.number, 1, 1, 4, 0)  # quiet again by now, but the press is still to be told
    desk2.hear2("BXPRS", 3, 1, 0, "BOX1", 1, 1)
    desk2.hear2("BXPRS", 4, 0, 0, "BOX1", 1, 1)
    desk2.hear2("BXQUI", 5, 1)
    desk2.hear2("BXPRS", 6, 1, 0, "BOX1", 1, 1)
    presses = [notice.press for notice in desk2.told if notice.press]
    assert [press.noisy for press in presses] == [False, True, False, False]
    assert presses[1].error_s - presses[2].error_s == pytest.approx(NOISY_S, rel=0.01)


def test_a_line_is_quiet_when_the_clock_says_so_and_no_event_is_missing(desk2):
    """The box drops the word that it is quiet where a duel's events need the room."""
    desk2.hear2("BXNOI", 1, 1)
    query = next(s for s in desk2.wait(0.3) if s.kind == "RFCLK")
    desk2.hear2("BXCLK", query.number, 1, 1, 1, 0)
    desk2.hear2("BXPRS", 2, 1, 0, "BOX1", 1, 1)
    assert not desk2.told[-1].press.noisy


def test_insisting_on_another_box_ends_the_conversation_with_this_one(desk2):
    desk2.talk.insist("BOX1")
    assert desk2.talk.met
    desk2.talk.insist("RED")
    assert not desk2.talk.met


def test_a_contact_closed_at_power_on_is_held_whatever_the_firmware_calls_it(desk):
    assert desk.hear("BXPRS", 1, 0, 0, at_s=ZERO_S + 144e-6) == ["held_at_go"]
    assert desk.told[-1].text == "button 0 was down when the box started"


class Slept(Desk2):
    """A box that has told ``events``, and tells them again when asked; its clock is ``ahead_s`` of what the host's
    clock shows, because that stood still while the host slept."""

    def __init__(self):
        super().__init__()
        self.ahead_s, self.events = 0.0, []

    def tell(self, kind, *fields, at_s):
        """Something happened, at that time of the host's clock."""
        self.events.append((kind, box_us(at_s + self.ahead_s), fields))
        return self.say(len(self.events))

    def say(self, number):
        kind, stamp, fields = self.events[number - 1]
        notices = self.talk.hear(Message(kind, number, (stamp, *fields), 2).encode(), self.now_s)
        self.told += notices
        return [n.kind for n in notices]

    def answer(self, seconds):
        """The box answers for so long, at once over a line of 2 ms."""
        end_s = self.now_s + seconds
        while self.now_s < end_s:
            for sentence in self.wait(0.005):
                if sentence.kind == "RFCLK":
                    fields = (box_us(self.now_s + self.ahead_s), 1, 1, len(self.events), 0)
                    self.now_s += 0.002
                    self.told += self.talk.hear(Message("BXCLK", sentence.number, fields, 2).encode(), self.now_s)
                if sentence.kind == "RFRSN":
                    self.say(sentence.fields[0])


@pytest.mark.parametrize("slept_s", [1.0, 5.0, 30.0, 3600.0, 86_400.0])
def test_a_host_that_slept_in_a_duel_hears_the_next_stop_once_and_at_its_time(slept_s):
    """Seen before: the press was told as one of an hour later, because it had been said twice."""
    desk = Slept()
    desk.answer(3.0)
    assert desk.tell("BXGOO", "BOX1", 1, 1, at_s=desk.now_s) == ["go"]
    desk.answer(2.0)
    desk.ahead_s += slept_s
    pressed_s = desk.now_s
    assert desk.tell("BXPRS", 1, 1, "BOX1", 1, 1, at_s=pressed_s) == []
    desk.answer(1.5)
    (press,) = [notice.press for notice in desk.told if notice.kind == "press"]
    assert abs(press.at_s - pressed_s) <= press.error_s < 0.05
    assert desk.tell("BXPRS", 0, 2, "BOX1", 1, 1, at_s=desk.now_s) == ["press"]
    assert desk.told[-1].press.box_us - press.box_us == pytest.approx((desk.now_s - pressed_s) * 1e6, abs=2)


def test_a_stop_that_was_pressed_while_the_host_slept_is_told_when_it_wakes_and_not_as_one_to_come():
    desk = Slept()
    desk.answer(3.0)
    desk.tell("BXGOO", "BOX1", 1, 1, at_s=desk.now_s)
    desk.answer(2.0)
    desk.ahead_s += 600.0
    desk.tell("BXPRS", 1, 1, "BOX1", 1, 1, at_s=desk.now_s - 300.0)
    desk.answer(2.0)
    (press,) = [notice.press for notice in desk.told if notice.kind == "press"]
    assert desk.now_s - 303 < press.at_s < desk.now_s - 300 and not desk.talk.counters.gone


def test_a_stop_whose_time_never_fits_is_not_lost(desk2):
    stamp_s = desk2.now_s + 50
    for _ in range(12):
        desk2.hear2("BXPRS", 1, 0, 1, "BOX1", 1, 1, at_s=stamp_s)
        desk2.wait(0.1)
    assert [n.kind for n in desk2.told if n.press] == ["press"]


def test_a_box_that_plays_back_an_earlier_duel_tells_nothing(desk2):
    """The same numbers were heard before; after a restart of the box its start has another number."""
    duel = [("BXGOO", 1, "BOX1", 1, 1), ("BXPRS", 2, 0, 1, "BOX1", 1, 1), ("BXPRS", 3, 1, 2, "BOX1", 1, 1)]
    at_s = desk2.now_s
    assert [kind for row in duel for kind in desk2.hear2(*row, at_s=at_s)] == ["go", "press", "press"]
    desk2.wait(1.0)
    assert desk2.hear2("BXGOO", 4, "BOX1", 1, 2) == ["go"]
    assert [kind for row in duel * 3 for kind in desk2.hear2(*row, at_s=at_s)] == []
    assert desk2.talk.counters.doubled == 9
    desk2.hear2("BXBOT", 1, 2, 1)
    desk2.agree(boot=2, last=1)
    assert desk2.hear2("BXBOT", 1, 2, 1) == []
    later = [(kind, number + 1, *fields) for kind, number, *fields in duel]
    assert [kind for row in later for kind in desk2.hear2(*row, at_s=at_s)] == []


def test_a_tape_of_an_earlier_conversation_is_no_box():
    """Its answers are to questions that nobody has asked: every program begins to count where nobody foresees."""
    desk = Desk(number=4_711)
    for hello in (1, 2):
        assert desk.hear("BXHEL", hello, "1.0", "BOX1", 1, 4, 1, 0, 0) == []
    assert not desk.talk.met and desk.hear("BXPRS", 1, 0, 1) == []
    assert desk.meet() == ["found"]
