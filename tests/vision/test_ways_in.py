"""What is compiled ahead is what judging runs: not less, or the first verdict would wait for a compiler."""

import inspect
import subprocess
import sys

import pytest

from referee.commands.preparing import _all_ways

JUDGES_ALL_KINDS = """
import sys
from cards.card import LayoutCard
from cards.deck import builtin_deck
from cards.pieces import builtin_piece_set
from referee.devices.ports import Frame
from referee.simulator import raster
from referee.simulator.table import TableSim
from referee.vision.live.color_lut import label_frame
from referee.vision.live.gate import Gate
from referee.vision.observer import Observer
from referee.vision.search.jit import Kernel
from referee.vision.search.machine_code import described
from referee.vision.ways_in import of_judging, of_searching

pieces, cards = builtin_piece_set(), builtin_deck().cards
one_of_each = {type(card): card for card in cards}.values()
layouts = [card for card in cards if isinstance(card, LayoutCard)]
observer, gate = Observer(pieces), Gate(Observer(pieces))
picture = TableSim(pieces, 1).picture({"A": layouts[0].pieces, "B": layouts[5].pieces})
for card in one_of_each:
    observer.judge(picture, card)
observer.judge(picture, layouts[0])
gate.look(Frame(picture, 0, 0.0))
label_frame(picture, gate.colours[1])

ways = of_judging(pieces) + of_searching(pieces) + raster.ways_in()
known = {(way.kernel.name, str([described(each) for each in way.examples])) for way in ways}
run = {(kernel.name, str(form.parameters)) for kernel in Kernel.kernels for form in kernel.forms}
for name, types in sorted(run - known, key=str):
    print("not known:", name, types)
for name, types in sorted(known - run, key=str):
    print("not run:", name, types)
if "numba" in sys.modules:
    print("numba was loaded though nothing was compiled")
"""


def test_every_way_in_fits_its_kernel():
    for way in _all_ways()[0]:
        assert len(way.examples) == len(inspect.signature(way.kernel.py_func).parameters), way.kernel


@pytest.mark.slow
def test_every_kernel_that_judging_runs_is_compiled_ahead_and_no_other():
    done = subprocess.run([sys.executable, "-c", JUDGES_ALL_KINDS], capture_output=True, text=True, check=True)
    assert done.stdout == ""
