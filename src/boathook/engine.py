"""OPEN FIRST. One event, from the host's payload to the decision that it obeys.

    host ─ payload ─▶ moment ─▶ match ─▶ run (environment, process, answer) ─▶ settle ─▶ Decision
                                  ▲
         files ─▶ config ─▶ snapshot      (once per session)
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import logging
import os
import time
import uuid
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from boathook import flight, match, moment
from boathook.config import scopes
from boathook.run import environment, process
from boathook.run.pool import Pool
from boathook.settle import settle
from boathook.snapshot import Snapshot, take
from boathook.terms.events import EVENTS, NOTIFICATIONS, Event, Notification
from boathook.terms.problem import ConfigError, Problem, UnknownEventError

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Mapping, Sequence
    from pathlib import Path

    from boathook.run.fanout import Batch
    from boathook.terms.decision import Decision
    from boathook.terms.outcome import Outcome
    from boathook.terms.report import Observer

log = logging.getLogger("boathook")
