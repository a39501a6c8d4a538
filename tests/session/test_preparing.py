"""The first start on a machine: the board does not wait for compilers, the first judgement does."""

import errno
import threading

import pytest

from referee.commands import preparing, serving
from referee.commands.preparing import Preparation
from referee.errors import CannotSee

SLEEPS = "import time; time.sleep(3600) # {backwards}"


@pytest.fixture
def not_compiled(monkeypatch):
    monkeypatch.setattr(preparing, "nothing_to_compile", lambda simulated: False)


def test_when_all_is_compiled_no_process_is_started(monkeypatch, capsys):
    monkeypatch.setattr(preparing, "nothing_to_compile", lambda simulated: True)
    preparation = Preparation()
    preparation.wait()
    preparation.close()
    assert capsys.readouterr().out == ""


def test_a_compiling_process_that_dies_is_no_reason_not_to_judge(not_compiled, monkeypatch, capsys):
    monkeypatch.setattr(preparing, "PROGRAM", "print('3 100'); raise SystemExit(1) # {backwards}")
    preparation = Preparation()
    preparation.wait()
    preparation.close()
    assert "first start on this machine" in capsys.readouterr().out


def test_who_waits_while_the_program_ends_is_told(not_compiled, monkeypatch):
    monkeypatch.setattr(preparing, "PROGRAM", SLEEPS)
    preparation, said = Preparation(), []

    def judge():
        with pytest.raises(CannotSee, match="before it was ready"):
            preparation.wait()
        said.append("told")

    waiting = threading.Thread(target=judge)
    waiting.start()
    preparation.close()
    waiting.join()
    assert said == ["told"]


def test_judging_begins_when_both_have_compiled_what_it_needs_though_they_go_on(not_compiled, monkeypatch):
    shared = "print(int({backwards}), 2, flush=True); " + SLEEPS
    monkeypatch.setattr(preparing, "PROGRAM", shared)
    preparation, alarms = Preparation(), []
    preparation.tell(lambda code, text: alarms.append((code, text)))
    preparation.wait()
    assert preparation.over and alarms[-1] == ("preparing", None)
    preparation.close()


def test_live_pictures_wait_for_their_own_kernels_alone(not_compiled, monkeypatch):
    ends = "print({backwards} and '17 19' or '1 19', flush=True); print({backwards} and '18 19' or '0 19', flush=True);"
    monkeypatch.setattr(preparing, "PROGRAM", ends + "print('16 19', flush=True);" + SLEEPS)
    preparation = Preparation(simulated=True)
    assert preparation.live_pictures(threading.Event()) and not preparation.over
    preparation.close()


def test_who_ends_the_program_does_not_wait_for_live_pictures(not_compiled, monkeypatch):
    monkeypatch.setattr(preparing, "PROGRAM", SLEEPS)
    preparation, over = Preparation(), threading.Event()
    threading.Timer(0.1, over.set).start()
    assert not preparation.live_pictures(over)
    preparation.close()


def test_pictures_of_a_simulated_table_are_compiled_first_from_both_ends():
    ways, needed = preparing._all_ways(simulated=True)
    names = [way.kernel.py_func.__name__ for way in ways[:needed]]
    assert [*names[:2], *names[-3:]] == ["light_depth", "shade", "look_up", "compare", "compose"]
    real, first = preparing._all_ways(simulated=False)
    assert [way.kernel.py_func.__name__ for way in real[:first]] == names[2:-1]


def test_the_console_says_that_the_first_verdict_will_wait(not_compiled, monkeypatch):
    monkeypatch.setattr(preparing, "PROGRAM", SLEEPS)
    preparation, alarms = Preparation(), []
    preparation.tell(lambda code, text: alarms.append((code, text)))
    assert alarms == [("preparing", "")] and not preparation.over
    preparation.close()
    assert alarms[-1] == ("preparing", None)


def test_processes_share_the_work_from_both_ends(monkeypatch, capsys):
    prepared = []
    ways = [type("Way", (), {"prepare": lambda self, i=i: prepared.append(i)})() for i in range(5)]
    monkeypatch.setattr(preparing, "_all_ways", lambda simulated: (ways, 3))
    monkeypatch.setattr(preparing.gc, "disable", lambda: None)
    preparing.compile_all()
    preparing.compile_all(backwards=True)
    assert prepared == [0, 1, 2, 3, 4, 2, 1, 0, 3, 4]
    assert capsys.readouterr().out.split("\n")[:3] == ["0 3", "1 3", "2 3"]


def test_nothing_is_to_be_compiled_when_every_way_in_is_kept_or_nothing_can_be(monkeypatch, tmp_path):
    ways = [type("Way", (), {"prepared": True})() for _ in range(3)]
    monkeypatch.setattr(preparing, "_all_ways", lambda simulated: (ways, 2))
    assert preparing.nothing_to_compile()
    ways[2].prepared = False
    assert not preparing.nothing_to_compile()
    monkeypatch.setattr(preparing, "cache_folder", lambda: None)
    assert preparing.nothing_to_compile()


def test_a_taken_port_is_told_and_another_found(monkeypatch, capsys):
    def serve(app, host, port, tls):
        if port:
            raise OSError(errno.EADDRINUSE, "Address already in use")
        return "served"

    monkeypatch.setattr(serving, "serve", serve)
    assert serving.served(None, "127.0.0.1", None, None) == "served"
    assert "port 8000 is taken" in capsys.readouterr().out
    with pytest.raises(OSError):  # who asks for a port gets that or none
        serving.served(None, "127.0.0.1", 8000, None)
