"""tightlip page: what it refuses, and that it listens to this machine alone."""

import re
import signal
import subprocess
import sys
import urllib.error
import urllib.request

import pytest

from tightlip.cli.main import main


@pytest.mark.parametrize("library", ["starlette", "uvicorn", "python_multipart", "jinja2"])
def test_a_missing_extra_is_told_with_the_line_that_installs_it(tmp_path, library):
    code = (
        f"import sys; sys.modules[{library!r}] = None\n"
        f"from tightlip.cli.main import main; sys.exit(main(['page', '--folder', {str(tmp_path)!r}]))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert "pip install 'tightlip[page]'" in done.stderr


def test_what_is_not_there_is_refused(tmp_path, capsys):
    assert main(["page", str(tmp_path / "none.csv")]) == 2
    assert "there is no such file" in capsys.readouterr().err
    assert main(["page", "--folder", str(tmp_path / "none")]) == 2
    assert "folder that is there" in capsys.readouterr().err


def test_it_listens_until_it_is_interrupted(tmp_path):
    (tmp_path / "people.csv").write_text("age,ill\n1,no\n")
    command = [sys.executable, "-m", "tightlip", "page", str(tmp_path / "people.csv"), "--no-browser"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            line = process.stdout.readline()
            address = re.search(r"http://127\.0\.0\.1:\d+/\?token=\S+", line).group()
            with pytest.raises(urllib.error.HTTPError, match="403"):
                urllib.request.urlopen(address.partition("?")[0], timeout=10)
            opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor())
            with opener.open(address, timeout=10) as page:
                assert "people.csv" in page.read().decode()
                assert "token" not in page.url
        finally:
            process.send_signal(signal.SIGINT)
        assert process.wait(10) == 128 + signal.SIGINT
        assert "token" not in process.stderr.read()
