"""What a run of the tests leaves behind among temporary files: nothing."""

from __future__ import annotations

import gc
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "web"))

from fake_session import FakeSession


def test_temporary_files_of_tests_and_of_their_programs_lie_where_they_go_with_the_run(tmp_path):
    program = [sys.executable, "-c", "import tempfile; print(tempfile.gettempdir())"]
    theirs = subprocess.run(program, check=True, capture_output=True, text=True).stdout.strip()
    assert theirs == tempfile.gettempdir() and Path(theirs).name.startswith("referee-tests-")
    assert not tmp_path.is_relative_to(theirs)  # what pytest keeps of the last runs stays


def test_a_fake_sessions_folder_goes_with_it():
    session = FakeSession()
    folder = session.data_dir
    assert folder.is_dir()
    del session
    gc.collect()
    assert not folder.exists()
