"""``FileController``: opens files that a person uploads, and saves files."""

from __future__ import annotations

import base64
import binascii
import io
import re
from array import array
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, TypeVar, cast

import numpy as np

from hcviz.algorithms import get as get_algorithm
from hcviz.core.errors import HcvizError, InvalidData
from hcviz.io.answer_merging import KnownAnswers, MergedAnswers, merge_answers
from hcviz.io.answers import SignedAnswer, count_comparisons
from hcviz.io.clusters_csv import write_clusters_csv
from hcviz.io.comparison_csv import write_answers_csv, write_comparison_csv
from hcviz.io.file_kinds import detect_file
from hcviz.io.reference_tree import read_reference_tree
from hcviz.io.session_file import save_session
from hcviz.io.tables import MAX_UPLOAD_BYTES
from hcviz.io.triplet_csv import ORDERS, Order, read_triplet_csv, write_triplet_csv
from hcviz.session import actions as act
from hcviz.session.constraint import TableKind
from hcviz.session.model import DataSpec
from hcviz.session.update import interrupted_session
from hcviz.taxonomy import Taxonomy
from hcviz.ui.app.link import link_of
from hcviz.ui.features.card_sort.report_file import save_card_sort_report
from hcviz.ui.features.groups.places import locked_groups
from hcviz.ui.features.groups.taxonomy_files import (
    read_groups_file,
    save_taxonomy,
    saved_note,
)
from hcviz.ui.features.levels.model import cluster_names
from hcviz.ui.features.new_items.opening import open_new_items
from hcviz.ui.features.picture.controller import Choices, PictureController
from hcviz.ui.features.review.opening import open_groups, open_version
from hcviz.ui.features.supports import model as supports_model
from hcviz.ui.parts.messages import Acts
from hcviz.ui.parts.part import Part
from hcviz.ui.state.data_sources import AT_ONCE, TEXT_AT_ONCE, takes_long
from hcviz.ui.state.store import Store
from hcviz.ui.state.view_state import Loading

ACTS = Acts()

T = TypeVar("T")


class FileController:
    """Handles the acts of the file menu for one store."""

    def __init__(self, store: Store, part: Part, centre: Any) -> None:
        self.store = store
        self.part = part
        self.centre = centre
        self.pictures = PictureController(store, part, centre)
        #: Called with the files and bytes that arrive. Raises an error if they are too many.
        self.limit_upload: Callable[[int, int], None] | None = None
        #: Plays a lesson script.
        self.open_lesson: Callable[[str], None] = lambda text: None
        self._upload: Any = None
        self._sending = ""  # the name of the file
        self._pieces: list[bytes] = []
        #: The answers in each of the session's files of answers, so that a file is read once.
        self._marks: Mapping[bytes, array[int]] = {}

    def stop(self) -> None:
        """Cancel the upload and the reading of a file. The data on the page stay."""
        self.store.loader.cancel(self._cancel_upload())

    def _cancel_upload(self) -> str:
        """Cancel the upload in progress. Return the name of its file, "" if there is none."""
        if self._upload is None:
            return ""
        self.part.acknowledge_upload(self._upload, len(self._pieces), stop=True)
        self._upload, self._pieces = None, []
        return self._sending

    def act(self, name: str, more: dict[str, Any]) -> None:
        """Handle a message of the file menu."""
        with self.store.guarded():
            ACTS(self, name, more)

    @ACTS.on("upload")
    def _upload_piece(
        self, id: Any, kind: str, name: str, piece: int, pieces: int, base64: str, size: int = 0
    ) -> None:
        fields = {"id": id, "kind": kind, "name": name, "piece": piece, "pieces": pieces}
        self._receive({**fields, "base64": base64, "size": size})

    @ACTS.on("too-large")
    def _too_large(self, name: str, size: int) -> None:
        raise InvalidData(
            f"{name} has {size / 2**20:,.0f} MB; the limit is {MAX_UPLOAD_BYTES / 2**20:.0f} MB.",
            "Load larger tables in Python: hcviz.explore(hcviz.Problem(...)).",
        )

    @ACTS.on("columns")
    def _columns(self) -> None:
        self.store.change_view(sheet="columns")

    @ACTS.on("unreadable")
    def _unreadable(self, name: str) -> None:
        if self._upload is not None and name == self._sending:
            self._cancel_upload()
            self.store.change_view(loading=self.store.loader.loading)
        raise InvalidData(f"The browser could not read {name}.")

    @ACTS.on("save")
    def _save_file(self, what: str) -> None:
        self._save(what)

    @ACTS.on("copied")
    def _copied(self, ok: bool) -> None:
        message = "The link is on your clipboard, and in the address bar."
        if not ok:
            message = "The link is in the address bar (the clipboard is not available)."
        if self.store.session.choices or self.store.session.data.answers:
            message += " It does not contain the added comparisons: save the session."
        if self.store.session.groups and not link_of(self.store.session, self.store.view).groups:
            message += " It does not contain the groups, which are too large: save the session."
        if self.store.session.data.added:
            message += " It does not contain the items that were added: save the session."
        self.store.change_view(message=message)

    def _receive(self, more: dict[str, Any]) -> None:
        """Handle one piece of an upload; the last one opens the file."""
        piece = int(more["piece"])
        if self._upload != more["id"]:
            if piece:  # a piece that was sent before the upload was cancelled
                self.part.acknowledge_upload(more["id"], 0, stop=True)
                return
            sent = self._cancel_upload()
            if int(more["pieces"]) > 1:  # a file in one piece is opened or refused below
                self.store.loader.cancel(sent)
            elif sent:
                self.store.change_view(message=f"Cancelled: {sent} was not opened.")
            self._upload, self._sending = more["id"], str(more["name"])
        try:
            if piece != len(self._pieces):
                raise _broken()
            content = _decoded(more["base64"])
            if self.limit_upload is not None:
                self.limit_upload(int(piece == 0), len(content))
            self._pieces.append(content)
            self._check_size(str(more["name"]))
        except HcvizError:
            self._cancel_upload()
            self.store.change_view(loading=self.store.loader.loading)
            raise
        count = int(more["pieces"])
        if len(self._pieces) < count:
            size = int(more.get("size", 0))
            loading = Loading(str(more["name"]), size, len(self._pieces) / count)
            self.store.change_view(loading=loading, error=None)
            self.part.acknowledge_upload(self._upload, len(self._pieces))
        else:
            content, self._pieces = b"".join(self._pieces), []
            self._upload = None
            self.store.change_view(loading=self.store.loader.loading)
            self.open(str(more["kind"]), str(more["name"]), content)

    def _check_size(self, name: str) -> None:
        if sum(map(len, self._pieces)) > MAX_UPLOAD_BYTES:  # the browser's check cannot be trusted
            raise InvalidData(f"{name} is larger than {MAX_UPLOAD_BYTES / 2**20:.0f} MB.")

    def open(self, kind: str, name: str, content: bytes) -> None:
        """Open a file of this kind; ``any`` detects the kind. Large files are read on a thread."""
        store, labels = self.store, self.store.session.labels

        def read(call: Callable[[], T], then: Callable[[T], object]) -> None:
            self._read(kind, name, content, call, then)

        if kind == "any":
            read(
                lambda: detect_file(content, name, labels),
                lambda found: self.open(found, name, content),
            )
        elif kind == "lesson":
            self.open_lesson(content.decode("utf-8", "replace"))
        elif kind == "session":
            store.loader.open_session(name, content)
        elif kind == "reference":

            def reference() -> act.ImportConstraints:
                drawn = read_reference_tree(content, labels)
                stated = drawn.constraints(name, time=act.now())
                return act.ImportConstraints(stated, source=f"{name} ({drawn.sentence()}): ")

            read(reference, store.dispatch)
        elif kind in ("constraints", *ORDERS):
            order = None if kind == "constraints" else cast(Order, kind)
            read(
                lambda: act.ImportConstraints(read_triplet_csv(content, labels, order)),
                store.dispatch,
            )
        elif kind == "comparisons":
            self._answers(name, content)
        elif kind == "groups":
            read(
                lambda: read_groups_file(content, name, labels),
                lambda found: open_groups(store, found),
            )
        elif kind == "second version":
            read(
                lambda: read_groups_file(content, name, labels),
                lambda found: open_version(store, found),
            )
        elif kind == "new items":
            open_new_items(store, name, content)
        else:
            self._table(kind, name, content)

    def _read(
        self,
        kind: str,
        name: str,
        content: bytes,
        read: Callable[[], T],
        then: Callable[[T], object],
    ) -> None:
        """Call ``then(read())``, and ``read`` on a thread if the file is large.

        If other items are shown by then, the file is read again for these.
        """
        if len(content) <= TEXT_AT_ONCE:
            then(read())
            return
        labels = self.store.session.labels

        def finish(found: T) -> None:
            if self.store.session.labels == labels:
                then(found)
            else:
                self.open(kind, name, content)

        self.store.loader.start(name, len(content), read, finish)

    def _table(self, kind: str, name: str, content: bytes, message: str = "") -> None:
        spec = DataSpec(
            kind="table",
            name=name,
            filename=name,
            content=content,
            table_kind=cast(TableKind, kind),
            similarity=self.store.session.data.similarity,
        )
        (self.store.loader.open_table if takes_long(spec) else self.store.open_data)(spec, message)

    def _answers(self, name: str, content: bytes) -> None:
        """Add answers about the items shown to the session; open other answers as data."""
        before = self._present_answers()
        if len(content) + before.unread_bytes <= AT_ONCE:
            self._add(name, merge_answers(name, content, before))
            return

        def then(found: MergedAnswers) -> None:
            self._marks = found.hashes or self._marks
            now = self._present_answers()
            if now.labels != before.labels:  # other data were opened since
                return
            if (now.given, now.files) == (before.given, before.files):
                self._add(name, found)
            else:  # answers were added or removed since, so that other answers are new
                self._answers(name, content)

        self.store.loader.start(
            name, len(content), lambda: merge_answers(name, content, before), then, "added"
        )

    def _present_answers(self) -> KnownAnswers:
        """Return the answers that a file of answers would be added to."""
        session, labels = self.store.session, self.store.session.labels
        own: list[SignedAnswer] = [
            (each.question, tuple(labels[item] for item in each.items), each.author, each.time)
            for each in session.choices
        ]
        files = [content for _, content in session.data.answers]
        return KnownAnswers(labels, self.store.problem.comparisons, own, files, self._marks)

    def _add(self, name: str, found: MergedAnswers) -> None:
        """Add the answers of a file to the session, and say how many are new."""
        store, about, repeated = self.store, found.match, found.repeated
        if about.comparisons is None or found.new is None:
            which = f"{about.n_matched or 'None'} of its {about.n_names:,} names"
            which += " are" if about.n_matched > 1 else " is"
            message = f"{which} among the items shown before, so the file was opened as new data."
            self._table("comparisons", name, found.content, message)
            return
        self._marks = found.hashes
        known = store.problem.comparisons
        count, more, now = len(about.comparisons), len(found.new), len(known or ())
        if not count:
            repeats = "1 answer that is" if repeated == 1 else f"{repeated:,} answers that are"
            store.change_view(
                error=None, message=f"{name} has {repeats} already here: nothing was added."
            )
            return
        if not more:
            message = (
                f"{name} has the {count_comparisons(now)} here and no others: nothing was added."
            )
            store.change_view(error=None, message=message)
            return
        if more < count:
            were = "was" if more == 1 else "were"
            here = count_comparisons(now)
            message = f"{name} has the {here} here and {more:,} more, which {were} added."
        else:
            message = f"{count_comparisons(count)} from {name} added to the "
            message += f"{len(store.session.labels)} items"
            message += f" shown, {now + count:,} now." if now else " shown."
            if repeated:
                were = "was" if repeated == 1 else "were"
                message += f" {repeated:,} of its answers {were} already here."
        store.dispatch(act.AddComparisons(name, found.content, message))

    @ACTS.on("save-picture", "preview-picture")
    def _picture(
        self,
        act: str,
        format: str,
        width: float,
        height: float,
        heatmap: bool,
        supports: bool,
        names: bool,
        caption: bool,
        number: int = 0,
    ) -> None:
        """Save a picture, or answer the request ``number`` for its preview."""
        choices = Choices(format, width, height, heatmap, supports, names, caption)
        if act == "save-picture":
            self.pictures.save(choices, file_stem(self.store.session.data))
        else:
            self.pictures.preview(choices, number)

    @ACTS.on("save-groups")
    def _save_groups(self, format: str) -> None:
        self.save_groups(format)

    def save_groups(self, format: str) -> None:
        """Send the groups of the tree on the page to the browser, as a file."""
        session = self.store.session
        if session.snapshot is None or not session.groups:
            raise HcvizError("No group has a name yet.", "Select a branch and name it.")
        groups = locked_groups(self.store)
        places = Taxonomy(session.labels, session.snapshot.tree, groups).nodes
        tree = supports_model.tree_to_save(self.store, places)
        taxonomy = Taxonomy(session.labels, tree, groups)
        file = save_taxonomy(taxonomy, format, file_stem(session.data))
        self.part.download(file.filename, file.text.encode(), file.mime)
        self.store.change_view(message=f"Saved: {file.filename}. {saved_note(taxonomy, format)}")

    def _save(self, what: str) -> None:
        """Send the file that a person asked for to the browser."""
        session = self.store.session
        stem = file_stem(session.data)
        if what == "session":
            time = session.log[-1].time if session.log else act.now()
            kept = replace(
                interrupted_session(session, get_algorithm, time), look=self.store.look_to_save
            )
            self.part.download(f"{stem}.hcviz", save_session(kept), "application/zip")
            return
        if what == "constraints":
            text = write_triplet_csv(session.constraints, session.labels)
            self.part.download(f"{stem}-constraints.csv", text.encode(), "text/csv")
            return
        if what == "answers":
            answers = [
                (each.question, each.items, each.author, each.time) for each in session.choices
            ]
            text = write_answers_csv(answers, session.labels)
            self.part.download(f"{stem}-answers.csv", text.encode(), "text/csv")
            return
        if what == "comparisons":
            known = self.store.problem.comparisons
            if known is None:
                raise HcvizError("There are no comparisons to save.")
            text = write_comparison_csv(known, session.labels)
            self.part.download(f"{stem}-comparisons.csv", text.encode(), "text/csv")
            return
        if what == "clusters":
            clusters = self.centre.clusters()
            if clusters is None:
                raise HcvizError("No clusters are marked.", "Set their number above the tree.")
            text = write_clusters_csv(session.labels, clusters, cluster_names(self.store))
            self.part.download(f"{stem}-clusters.csv", text.encode(), "text/csv")
            return
        if session.snapshot is None:
            raise HcvizError("There is no tree to save yet.")
        tree = session.snapshot.tree
        if what == "newick":
            text = supports_model.tree_to_save(self.store).to_newick(session.labels) + "\n"
            self.part.download(f"{stem}.nwk", text.encode(), "text/plain")
        elif what == "linkage":
            buffer = io.BytesIO()
            np.save(buffer, tree.to_linkage(), allow_pickle=False)
            self.part.download(f"{stem}-linkage.npy", buffer.getvalue(), "application/octet-stream")
        elif what == "card-sort-report":
            text = save_card_sort_report(self.store, self.centre.picture_data())
            self.part.download(f"{stem}-card-sort.html", text.encode(), "text/html")
        else:
            raise HcvizError(f"There is no file of {what!r} to save.")


def file_stem(spec: DataSpec) -> str:
    """Return the name of saved files without a suffix: ``kitchen`` for ``kitchen.csv``."""
    name = spec.name
    if spec.kind != "built-in":  # a suffix begins with a letter: "run 1.5" has none
        name = re.sub(r"\.[A-Za-z][A-Za-z0-9]{0,7}$", "", name.strip())
    return re.sub(r"[^\w.-]+", "-", name).strip("-") or "tree"


def _decoded(text: Any) -> bytes:
    try:
        return base64.b64decode(str(text), validate=True)
    except (binascii.Error, ValueError):
        raise _broken() from None


def _broken() -> InvalidData:
    return InvalidData("The upload was damaged on the way.", "Try again.")
