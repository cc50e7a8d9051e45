"""Handles through which defects change copies of profiles."""

from __future__ import annotations

import csv
import io
import json
import sqlite3
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from exporter_defects import Inapplicable

from ascend_ref.bin import Block, canonical, parse, read_blocks, to_bytes

Row = dict[str, str]
Event = dict[str, Any]

ABSENT = ("no such table", "no such column")


class Database:
    """One database. Statements that change nothing make the defect inapplicable."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def change(self, *statements: str) -> None:
        """Run statements in one transaction; ``$name`` stands for a column of either revision."""
        connection = sqlite3.connect(self.path)
        try:
            before = connection.total_changes
            for statement in statements:
                connection.execute(self._spelt(connection, statement))
            if connection.total_changes == before:
                raise Inapplicable
            connection.commit()
        except sqlite3.OperationalError as error:
            if not str(error).startswith(ABSENT):
                raise
            raise Inapplicable from error
        except sqlite3.IntegrityError as error:  # no exporter could have written it
            raise Inapplicable from error
        finally:
            connection.close()

    def ask(self, query: str) -> list[Any]:
        connection = sqlite3.connect(self.path)
        try:
            return [row[0] for row in connection.execute(query)]
        except sqlite3.OperationalError as error:
            raise Inapplicable from error
        finally:
            connection.close()

    def columns(self, table: str) -> list[str]:
        return self.ask(f"SELECT name FROM pragma_table_info('{table}')")

    def need(self, condition: str) -> None:
        """Make the defect inapplicable unless a row fulfils the query."""
        if not self.ask(condition):
            raise Inapplicable

    def twice(self, table: str) -> None:
        """Every row of the table stands twice; keys that must differ are new ones."""
        keys = self.ask(f"SELECT name FROM pragma_table_info('{table}') WHERE pk")
        new = {key: f"{key} + (SELECT max({key}) + 1 FROM {table})" for key in keys}
        chosen = ", ".join(new.get(name, f'"{name}"') for name in self.columns(table))
        self.change(f"INSERT INTO {table} SELECT {chosen or '*'} FROM {table}")

    @staticmethod
    def _spelt(connection: sqlite3.Connection, statement: str) -> str:
        if "$block" not in statement:
            return statement
        names = {row[1] for row in connection.execute("PRAGMA table_info(COMPUTE_TASK_INFO)")}
        new = "blockNum" in names
        block, mixed = ("blockNum", "mixBlockNum") if new else ("blockDim", "mixBlockDim")
        return statement.replace("$block", block).replace("$mixed", mixed)


def text_id(value: str) -> str:
    """The id of a text of the profiler, as SQL."""
    return f"(SELECT id FROM STRING_IDS WHERE value = '{value}')"


class Folder:
    """Files of one profile, or of several ranks."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def files(self, pattern: str) -> list[Path]:
        found = sorted(self.path.rglob(pattern))
        if not found:
            raise Inapplicable
        return found

    def rows(self, name: str, change: Callable[[list[Row]], list[Row] | None]) -> None:
        """Change the rows of CSV files; what ``change`` returns, if anything, replaces them."""
        altered = False
        for path in self.files(name):
            text = path.read_bytes().decode()
            header, *cells = csv.reader(io.StringIO(text, newline=""))
            rows = [dict(zip(header, row, strict=False)) for row in cells]
            before = [dict(row) for row in rows]
            try:
                rows = change(rows) or rows
            except KeyError:
                continue
            altered |= rows != before
            self._write(path, list(rows[0]), rows, "\r\n" if "\r\n" in text else "\n")
        if not altered:
            raise Inapplicable

    def each(self, name: str, change: Callable[[Row], object]) -> None:
        """Change each row of CSV files."""

        def all_rows(rows: list[Row]) -> None:
            for row in rows:
                change(row)

        self.rows(name, all_rows)

    def document(self, name: str, change: Callable[[Any], object]) -> None:
        """Change JSON documents in place."""
        altered = False
        for path in self.files(name):
            text = path.read_bytes().decode()
            value = json.loads(text)
            change(value)
            written = json.dumps(value, ensure_ascii=False)
            altered |= json.loads(text) != value
            path.write_text(written, encoding="utf-8")
        if not altered:
            raise Inapplicable

    @staticmethod
    def _write(path: Path, header: list[str], rows: list[Row], end: str) -> None:
        out = io.StringIO(newline="")
        writer = csv.writer(out, lineterminator=end)
        writer.writerow(header)
        writer.writerows(row.values() for row in rows)
        path.write_bytes(out.getvalue().encode())


class Timeline:
    """One timeline; its events are changed in place and written at the end of ``events``."""

    def __init__(self, path: Path) -> None:
        self.path = path
        text = path.read_bytes().decode()
        loaded = json.loads(text)
        self.all: list[Event] = loaded["traceEvents"] if isinstance(loaded, dict) else loaded
        self._before = text
        self._names = {
            event["pid"]: event["args"]["name"]
            for event in self.all
            if event.get("name") == "process_name"
        }

    def layer(self, name: str, phases: str = "X") -> list[Event]:
        """Events of a layer, by the beginning of its name."""
        found = [
            event
            for event in self.all
            if event["ph"] in phases and self._names.get(event["pid"], "").startswith(name)
        ]
        if not found:
            raise Inapplicable
        return found

    def flows(self, category: str, phases: str = "sf") -> list[Event]:
        found = [
            event for event in self.all if event["ph"] in phases and event.get("cat") == category
        ]
        if not found:
            raise Inapplicable
        return found

    def write(self) -> None:
        written = json.dumps(self.all, ensure_ascii=False)
        if json.loads(self._before) == self.all:
            raise Inapplicable
        self.path.write_text(written, encoding="utf-8")


def later(stamp: Any, by_us: float) -> Any:
    """A time of a timeline, in microseconds as text or number, shifted."""
    nanoseconds = round(by_us * 1000)
    if not isinstance(stamp, str):
        return stamp + by_us
    whole, _, rest = stamp.strip().partition(".")
    moved = int(whole) * 1000 + int((rest + "000")[:3]) + nanoseconds
    return f"{moved // 1000}.{moved % 1000:03}"


class Bin:
    """One ``visualize_data.bin``."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def blocks(self) -> list[Block]:
        file = read_blocks(self.path.read_bytes(), self.path.name)
        return [
            Block(
                entry.type,
                bytes(file.payload(entry)),
                file.path(entry) if entry.type == 0x01 else None,
                entry.version,
            )
            for entry in file.entries
        ]

    def need(self, code: int) -> None:
        """Make the defect inapplicable unless the file has such a block."""
        if all(block.type != code for block in self.blocks()):
            raise Inapplicable

    def write(self, blocks: list[Block]) -> None:
        self.put(to_bytes(blocks))

    def put(self, content: bytes) -> None:
        if content == self.path.read_bytes():
            raise Inapplicable
        self.path.write_bytes(content)

    def each(self, code: int, change: Callable[[Any], object]) -> None:
        """Change the payloads of a block type in place; of another form they are left alone."""
        blocks, altered = self.blocks(), False
        for place, block in enumerate(blocks):
            if block.type != code:
                continue
            value = parse(block.payload)
            try:
                change(value)
            except KeyError:
                continue
            written = canonical(value)
            if written != canonical(parse(block.payload)):
                altered = True
                blocks[place] = replace(block, payload=written)
        if not altered:
            raise Inapplicable
        self.write(blocks)
