"""Files in and out of the page: uploads are read whole or refused whole."""

from __future__ import annotations

import base64
import binascii
import io
import re
from dataclasses import replace
from typing import Any, Literal, cast

import numpy as np

from hcviz.core.errors import HcvizError, InvalidData, TooLarge
from hcviz.core.triplets import Comparisons
from hcviz.io.answers import Meant, Signed, beyond, counted, meant, signed, unsaid
from hcviz.io.comparison_csv import (
    read_comparison_csv,
    write_answers_csv,
    write_comparison_csv,
)
from hcviz.io.reference_tree import read_reference_tree
from hcviz.io.session_file import load_session, save_session
from hcviz.io.tables import MAX_UPLOAD_BYTES, TableKind
from hcviz.io.triplet_csv import ORDERS, Order, read_triplet_csv, write_triplet_csv
from hcviz.session import actions as act
from hcviz.session.model import DataSpec
from hcviz.ui.parts import Part
from hcviz.ui.sources import AT_ONCE, takes_long
from hcviz.ui.store import Reading, Store

#: A file that repeats so many comparisons or more, all that there are, is a later state of the same
#: list; of fewer, people may have said the same of themselves.
SURELY = 100


class Files:
    """Opens what the person hands over, and hands over what they ask for."""

    def __init__(self, store: Store, part: Part, centre: Any) -> None:
        self.store = store
        self.part = part
        self.centre = centre
        self._upload: Any = None
        self._pieces: list[bytes] = []
        self._stopped: Any = None  # the upload that is not wanted any more

    def stop(self) -> None:
        """Neither send nor read on: what was there stays."""
        self._no_more()
        self.store.stop_reading()

    def _no_more(self) -> None:
        """Of what is being sent, if anything is."""
        if self._upload is not None:
            self.part.heard(self._upload, len(self._pieces), stop=True)
            self._stopped, self._upload, self._pieces = self._upload, None, []

    def act(self, name: str, more: dict[str, Any]) -> None:
        """An act of the file menu."""
        with self.store.guarded():
            if name == "upload":
                self._take(more)
            elif name == "too-large":
                size = int(more["size"]) / 2**20
                raise InvalidData(
                    f"{more['name']} has {size:,.0f} MB; the limit is "
                    f"{MAX_UPLOAD_BYTES / 2**20:.0f} MB.",
                    "Load larger tables in Python: hcviz.explore(hcviz.Problem(...)).",
                )
            elif name == "unreadable":
                self.store.look(reading=None)
                raise InvalidData(f"The browser could not read {more['name']}.")
            elif name == "save":
                self._save(str(more["what"]))
            elif name == "copied":
                said = "The link is on your clipboard, and in the address bar."
                if not more.get("ok"):
                    said = "The link is in the address bar (the clipboard was refused)."
                if self.store.session.choices or self.store.session.data.answers:
                    said += " Comparisons that were added stay out of it: save the session."
                self.store.look(said=said)

    def _take(self, more: dict[str, Any]) -> None:
        """One piece of an upload; the last one opens the file."""
        if more["id"] == self._stopped:
            return
        if self._upload != more["id"]:  # a new upload takes the place of one that never ended
            self._upload, self._pieces = more["id"], []
        try:
            self._pieces.append(_decoded(more["base64"]))
            self._check_size(str(more["name"]))
        except HcvizError:
            self._no_more()
            self.store.look(reading=None)
            raise
        count = int(more["pieces"])
        if len(self._pieces) < count:
            size = int(more.get("size", 0))
            reading = Reading(str(more["name"]), size, len(self._pieces) / count)
            self.store.look(reading=reading, error=None)
            self.part.heard(self._upload, len(self._pieces))
        else:
            content, self._pieces = b"".join(self._pieces), []
            self._upload = None
            self.store.look(reading=None)
            self._open(str(more["kind"]), str(more["name"]), content)

    def _check_size(self, name: str) -> None:
        if sum(map(len, self._pieces)) > MAX_UPLOAD_BYTES:  # whatever the browser said before
            raise InvalidData(f"{name} is larger than {MAX_UPLOAD_BYTES / 2**20:.0f} MB.")

    def _open(self, kind: str, name: str, content: bytes) -> None:
        store = self.store
        if kind == "session":
            store.restore(load_session(content))
        elif kind == "reference":
            drawn = read_reference_tree(content, store.session.labels)
            said = drawn.constraints(name, time=act.now())
            source = f"{name} ({drawn.sentence()}): "
            store.dispatch(act.ImportConstraints(said, source=source))
        elif kind in ("constraints", *ORDERS):
            order = None if kind == "constraints" else cast(Order, kind)
            found = read_triplet_csv(content, store.session.labels, order)
            store.dispatch(act.ImportConstraints(found))
        elif kind == "comparisons":
            self._answers(name, content)
        else:
            self._table(kind, name, content)

    def _table(self, kind: str, name: str, content: bytes, said: str = "") -> None:
        spec = DataSpec(
            kind="table",
            name=name,
            filename=name,
            content=content,
            table_kind=cast(TableKind, kind),
            similarity=self.store.session.data.similarity,
        )
        (self.store.open_later if takes_long(spec) else self.store.open_data)(spec, said)

    def _answers(self, name: str, content: bytes) -> None:
        """Answers about the items shown are added to them; about others they are other data."""
        labels = self.store.session.labels
        if len(content) <= AT_ONCE:
            self._meant(name, content, meant(content, labels))
            return

        def then(about: Meant) -> None:
            if self.store.session.labels == labels:  # else they were about what was shown before
                self._meant(name, content, about)

        self.store.read_later(name, len(content), lambda: meant(content, labels), then)

    def _meant(self, name: str, content: bytes, about: Meant) -> None:
        store = self.store
        labels = store.session.labels
        if about.comparisons is None:
            which = f"{about.theirs or 'None'} of its {about.named:,} names"
            which += " are" if about.theirs > 1 else " is"
            said = f"{which} among the items shown before, so these are data of their own."
            self._table("comparisons", name, content, said)
            return
        content, repeated = unsaid(content, self._signed())
        if repeated:
            found = read_comparison_csv(content, labels).comparisons
            if not len(found):
                said = "1 answer" if repeated == 1 else f"{repeated:,} answers"
                store.look(
                    error=None, said=f"{name} holds {said} that are there: nothing was added."
                )
                return
            about = replace(about, comparisons=found)
        size = len(content) + sum(len(each) for _, each in store.session.data.answers)
        if size > MAX_UPLOAD_BYTES:
            raise TooLarge(
                f"With {name} the files of answers have more than {MAX_UPLOAD_BYTES >> 20} MB."
            )
        assert about.comparisons is not None
        known = store.problem.comparisons
        more: Comparisons | None = about.comparisons
        count, now = len(about.comparisons), 0 if known is None else len(known)
        said = f"{counted(count)} from {name} added to the {len(labels)} items shown"
        said += f", {now + count:,} now." if now else "."
        if repeated:
            said += f" {repeated:,} of its answers {'was' if repeated == 1 else 'were'} there."
        if known is not None and now >= SURELY:
            more = beyond(about.comparisons, known)
        if more is None:
            more = about.comparisons
        elif len(more) < count:
            said = f"{name} holds the {counted(now)} there are"
            if not len(more):
                store.look(error=None, said=f"{said} and no others: nothing was added.")
                return
            said += f" and {len(more):,} more, which were added."
            content = write_comparison_csv(more, labels).encode()
        store.dispatch(act.Attach(name, content, said))

    def _signed(self) -> list[Signed]:
        """The answers about three that the session has, said here or read from files."""
        session, labels = self.store.session, self.store.session.labels
        own: list[Signed] = [
            (each.question, tuple(labels[item] for item in each.items), each.author, each.time)
            for each in session.choices
        ]
        return own + [one for _, content in session.data.answers for one in signed(content)]

    def _save(self, what: str) -> None:
        session = replace(self.store.session, look=act.frozen(self.store.view.look))
        stem = re.sub(r"[^\w.-]+", "-", session.data.name).strip("-") or "tree"
        if what == "session":
            self.part.download(f"{stem}.hcviz", save_session(session), "application/zip")
            return
        if what == "constraints":
            text = write_triplet_csv(session.constraints, session.labels)
            self.part.download(f"{stem}-constraints.csv", text.encode(), "text/csv")
            return
        if what == "answers":
            said = [(each.question, each.items, each.author, each.time) for each in session.choices]
            text = write_answers_csv(said, session.labels)
            self.part.download(f"{stem}-answers.csv", text.encode(), "text/csv")
            return
        if what == "comparisons":
            known = self.store.problem.comparisons
            if known is None:
                raise HcvizError("There are no comparisons to save.")
            text = write_comparison_csv(known, session.labels)
            self.part.download(f"{stem}-comparisons.csv", text.encode(), "text/csv")
            return
        if session.snapshot is None:
            raise HcvizError("There is no tree to save yet.")
        tree = session.snapshot.tree
        if what == "newick":
            text = tree.to_newick(session.labels) + "\n"
            self.part.download(f"{stem}.nwk", text.encode(), "text/plain")
        elif what == "linkage":
            buffer = io.BytesIO()
            np.save(buffer, tree.to_linkage(), allow_pickle=False)
            self.part.download(f"{stem}-linkage.npy", buffer.getvalue(), "application/octet-stream")
        else:
            from hcviz.io.picture import picture  # matplotlib takes a second: only when asked for

            mime = {"svg": "image/svg+xml", "png": "image/png"}[what]
            form = cast(Literal["svg", "png"], what)
            content = picture(**self.centre.picture_data(), format=form)
            self.part.download(f"{stem}.{what}", content, mime)


def _decoded(text: Any) -> bytes:
    try:
        return base64.b64decode(str(text), validate=True)
    except (binascii.Error, ValueError):
        raise InvalidData("The upload was broken on its way.", "Try again.") from None
