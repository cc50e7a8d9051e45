"""The application: routes as the spec has them, and what is refused before anything is read."""

from __future__ import annotations

import asyncio
import json
import re
import signal
import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import uvicorn
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.cors import CORSMiddleware
from starlette.requests import ClientDisconnect
from starlette.requests import Request as Call
from starlette.responses import Response
from starlette.routing import Route

from ascend_ref.cli.guard import describe
from ascend_ref.mindspore.analyse.condition import WrongCondition
from ascend_spec import mindspore_catalog
from ascend_spec.mindspore import Request, openapi_document
from ascend_spec.mindspore.openapi import DAMAGE, JSON
from ascend_spec.mindspore.requests import LAST_VIEWED

from ..listening import (
    CLOSE_SECONDS,
    LOCAL_HOST,
    LOCAL_ORIGIN,
    MAX_MESSAGE,
    PATIENCE_SECONDS,
    CannotListen,
    Endpoint,
    Worker,
    address_of,
    is_loopback,
    signals,
)
from .answers import ANSWERS, Asked
from .connection import Connection
from .folders import Served
from .loads import LastLoaded
from .read import condition_of, read_arguments
from .refused import Refused

DESCRIPTION = "/openapi.json"
WAITING = 64
"""Requests that may be read, or wait for the one that is answered."""


class Desk:
    """Answers requests one after the other, in a thread of its own, so that ^C is heard."""

    def __init__(self, served: Served, endpoint: Endpoint) -> None:
        self._served = served
        self._endpoint = endpoint
        self._day = mindspore_catalog().day_of(LAST_VIEWED)
        self._worker = Worker()
        self._loads = LastLoaded()
        self._waiting = 0
        self._hosts = re.compile(LOCAL_HOST, re.ASCII) if is_loopback(endpoint.host) else None

    def app(self) -> Starlette:
        """The application."""
        catalog = mindspore_catalog()
        described = json.dumps(openapi_document(catalog, self._day))
        requests = [(one, one.method_on(self._day)) for one in catalog.requests.values()]
        routes = [
            Route(one.path, self._endpoint_of(one), methods=[verb])
            for one, verb in requests
            if verb
        ]
        routes.append(Route(DESCRIPTION, self._guarded(_constant(described)), methods=["GET"]))
        app = Starlette(
            routes=routes,
            middleware=[
                Middleware(
                    CORSMiddleware,
                    allow_origins=self._endpoint.origins,
                    allow_origin_regex=LOCAL_ORIGIN.pattern,
                    allow_methods=["GET", "POST"],
                    allow_headers=["Content-Type"],
                    expose_headers=[DAMAGE],
                )
            ],
            exception_handlers={HTTPException: _no_route},
        )
        app.router.redirect_slashes = False
        return app

    def _endpoint_of(self, request: Request) -> Callable[[Call], Awaitable[Response]]:
        async def answer(call: Call) -> Response:
            if request.reason is not None:
                raise Refused("not-answered", request.reason)
            if self._waiting >= WAITING:
                raise Refused("busy")
            self._waiting += 1
            try:
                body = await _body(call) if call.method == "POST" else b""
                return await self._worker.run(
                    lambda: self._answer(request, call.query_params.multi_items(), body)
                )
            finally:
                self._waiting -= 1

        return self._guarded(answer)

    def _answer(self, request: Request, query: list[tuple[str, str]], body: bytes) -> Response:
        arguments = read_arguments(request, self._day, query, body)
        named = {one.name: one.refusal for one in request.arguments if one.form == "folder"}
        if "profile" in named:
            folders = arguments["train_id"], arguments["profile"]
            path = self._served.of_profile(*folders, named["profile"])
        else:
            name = next(name for name in named if name in arguments)
            path = self._served.of_job(arguments[name], named[name])
        folder = self._served.open(path, arguments.get("device_id"))
        condition = condition_of(arguments, request)
        asked = Asked(request, folder, arguments, condition, self._day, self._loads)
        try:
            answer = ANSWERS[request.request](asked)
        except WrongCondition as wrong:
            raise Refused(request.refused_with(wrong.refusal), str(wrong)) from None
        try:
            text = json.dumps(answer, allow_nan=False)
        except (ValueError, RecursionError) as problem:
            raise Refused("unreadable", f"What a file holds is no JSON: {problem}") from None
        damage = {DAMAGE: str(len(folder.damage))} if folder.damage else {}
        return Response(text, media_type=JSON, headers=damage)

    def _guarded(
        self, answer: Callable[[Call], Awaitable[Response]]
    ) -> Callable[[Call], Awaitable[Response]]:
        """An endpoint whose failures are answers, and which is for this machine's pages alone."""

        async def guarded(call: Call) -> Response:
            try:
                self._refuse_others(call)
                return await answer(call)
            except Refused as refused:
                return _refusal(refused)
            except ClientDisconnect:
                return Response(status_code=400)  # nobody reads it
            except OSError as problem:
                return _refusal(Refused("unreadable", problem.strerror or ""))
            except Exception as error:
                return _refusal(Refused("unknown", describe(error)))

        return guarded

    def _refuse_others(self, call: Call) -> None:
        """A page of elsewhere states its origin, or, behind a name that it made up, that host."""
        origin, host = call.headers.get("origin"), call.headers.get("host", "")
        if origin is not None and not (
            LOCAL_ORIGIN.fullmatch(origin) or origin in self._endpoint.origins
        ):
            raise Refused("other-page", f"{origin!r:.200}")
        if self._hosts is not None and not self._hosts.fullmatch(host):
            raise Refused("other-page", f"This is not the host {host!r:.200}.")


async def serve_folder(
    path: Path, endpoint: Endpoint, ready: Callable[[str], None]
) -> signal.Signals | None:
    """Answer requests about a folder until a signal comes, or the task is cancelled.

    ``ready`` is called with the address. Returns the signal. Raises ``Unreadable`` where nothing is
    in the folder, :class:`CannotListen`.
    """
    app = Desk(Served(path), endpoint).app()
    ended: asyncio.Future[signal.Signals | None] = asyncio.get_running_loop().create_future()
    with _listening(endpoint) as listening, signals(ended):
        server = _Server(
            uvicorn.Config(
                app,
                http=Connection,
                ws="none",
                lifespan="off",
                log_config=None,
                log_level="critical",
                access_log=False,
                proxy_headers=False,
                server_header=False,
                timeout_graceful_shutdown=int(CLOSE_SECONDS),
            )
        )
        ready(address_of(listening, "http"))
        serving = asyncio.ensure_future(server.serve([listening]))
        try:
            return await ended
        finally:
            server.should_exit = True
            await serving


class _Server(uvicorn.Server):
    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """None: they end each server of ours in the same way."""
        yield


@contextmanager
def _listening(endpoint: Endpoint) -> Iterator[socket.socket]:
    try:
        family, _, _, _, address = socket.getaddrinfo(
            endpoint.host, endpoint.port, type=socket.SOCK_STREAM
        )[0]
        listening = socket.create_server(address[:2], family=family)
    except OSError as problem:
        raise CannotListen(problem.strerror or str(problem)) from problem
    with listening:
        yield listening


async def _body(call: Call) -> bytes:
    """The body of a request. One that is too long is refused as soon as that is known, one that
    does not arrive after a while."""
    announced = call.headers.get("content-length", "")
    size = int(announced) if announced.isdecimal() and len(announced) < 20 else 0
    parts: list[bytes] = []
    taken = 0
    chunks: AsyncIterator[bytes] = call.stream()
    try:
        async with asyncio.timeout(PATIENCE_SECONDS):
            while max(size, taken) <= MAX_MESSAGE:
                chunk = await anext(chunks, None)
                if chunk is None:
                    return b"".join(parts)
                parts.append(chunk)
                taken += len(chunk)
    except TimeoutError:
        raise Refused("too-slow", f"Expected within {PATIENCE_SECONDS:g} s.") from None
    raise Refused("too-long", f"Expected up to {MAX_MESSAGE:,} bytes.")


def _constant(text: str) -> Callable[[Call], Awaitable[Response]]:
    async def answer(_: Call) -> Response:
        return Response(text, media_type=JSON)

    return answer


async def _no_route(call: Call, problem: Exception) -> Response:
    """There is no such path, or it has another method."""
    is_method = isinstance(problem, HTTPException) and problem.status_code == 405
    name = "method" if is_method else "no-such-request"
    headers = problem.headers if isinstance(problem, HTTPException) else None
    details = f"{call.method} {call.url.path}; see {DESCRIPTION}"
    return _refusal(Refused(name, details), headers)


def _refusal(refused: Refused, headers: Mapping[str, str] | None = None) -> Response:
    """An answer. The rest of a body is not waited for."""
    status = refused.refusal.status
    if refused.name in ("too-long", "too-slow"):
        headers = {"Connection": "close"}
    return Response(json.dumps(refused.body), status, headers, media_type=JSON)
