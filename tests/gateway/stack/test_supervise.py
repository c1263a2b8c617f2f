"""supervisord among files that take no more."""

from __future__ import annotations

import asyncio
import os
import sys

import pytest

from bus import paths
from tests.support.stage import Stage

_CONF = """
[unix_http_server]
file={run}/supervisor.sock
[supervisord]
nodaemon=true
logfile={home}/supervisord.log
pidfile={run}/supervisord.pid
[supervisorctl]
serverurl=unix://{run}/supervisor.sock
[rpcinterface:supervisor]
supervisor.rpcinterface_factory=supervisor.rpcinterface:make_main_rpcinterface
[program:talker]
command=/bin/sh -c 'seq 100000 100500; echo > {home}/said; sleep 1000'
stopasgroup=true
startsecs=0
stdout_logfile={home}/talker.log
"""
pytestmark = pytest.mark.stack


async def test_it_outlives_a_disk_that_takes_no_more(stage: Stage) -> None:
    run = paths.private(paths.runtime_dir())
    config = stage.home / "supervisord.conf"
    config.write_text(_CONF.format(run=run, home=stage.home), encoding="utf-8")
    os.mkfifo(stage.home / "said")
    limited = 'ulimit -f 2; exec "$0" -m gateway.stack.supervise -c "$1"'  # writes beyond one or two kilobytes fail
    await stage.start("/bin/sh", "-c", limited, sys.executable, str(config), PYTHONDONTWRITEBYTECODE="1")
    await asyncio.to_thread((stage.home / "said").read_text)
    assert "talker: stopped" in await stage.control("stop", "talker")  # all that it wrote is read by then
    assert "talker: started" in await stage.control("start", "talker")
