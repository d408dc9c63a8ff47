let menuOpen = false
let menuScroll = 0 // how far the menu is scrolled: it is drawn again while it is open
const unfolded = new Set() // keys of the lines of the menu that are open

// A line of the menu that opens and folds what is in it. `opened` is called when it opens.
function folding(key, text, disabled, title, inside, opened = () => {}) {
  const group = h(
    "div",
    { class: "fold", role: "group", "aria-label": text, hidden: !unfolded.has(key) },
    inside,
  )
  const line = h(
    "button",
    {
      role: "menuitem",
      "aria-expanded": String(unfolded.has(key)),
      "data-key": key,
      disabled,
      title,
      onclick: event => {
        event.stopPropagation()
        if (!unfolded.delete(key)) unfolded.add(key)
        group.hidden = !unfolded.has(key)
        line.setAttribute("aria-expanded", String(!group.hidden))
        if (!group.hidden) {
          opened()
          group.scrollIntoView({ block: "nearest" })
        }
      },
    },
    text,
    h("i", { class: "caret", "aria-hidden": "true" }),
  )
  return [line, group]
}

function fileMenu(state, send, root) {
  const act = (name, more) => () => {
    menuOpen = false
    shut()
    send(name, more)
  }
  const item = (text, click, disabled, title) =>
    h(
      "button",
      { role: "menuitem", "data-key": `line-${text}`, onclick: click, disabled, title },
      text,
    )
  const file = (accept, kind) => () => {
    menuOpen = false
    shut()
    pickFile(accept, state.limit, send, kind)
  }
  const form = pictureForm(fields => act("save-picture", fields)(), send)
  root.hcPreview = form.show
  const holder = h("div", { class: "menu" + (menuOpen ? " open" : "") })
  const toggle = h(
    "button",
    {
      "data-key": "file",
      "aria-label": "File",
      "aria-haspopup": "menu",
      "aria-expanded": String(menuOpen),
      onclick: event => {
        event.stopPropagation()
        menuOpen = !menuOpen
        menuScroll = 0
        place()
        if (menuOpen) popup.querySelector("button:not(:disabled)").focus()
      },
    },
    icon("more"),
    h("span", { class: "file-label" }, "File"),
  )
  const popup = h(
    "div",
    { class: "sheet", role: "menu", "aria-label": "File" },
    h("div", { class: "head" }, `Open (up to ${Math.round(state.limit / 2 ** 20)} MB)`),
    item(
      "Open file…",
      file("", "any"),
      false,
      "The kind of file is detected. A file can also be dropped on the page, and the cells of a " +
        "spreadsheet can be pasted",
    ),
    item(
      "Columns…",
      act("columns"),
      !state.hasColumns,
      state.hasColumns
        ? "What was detected in your table; switch columns on and off"
        : "Open a table first",
    ),
    item("Session…", file(".hcviz", "session")),
    item(
      "Groups…",
      file(state.groupFiles, "groups"),
      !state.hasTree,
      "Named groups of the items shown: an outline (Markdown, text, OPML), a table of levels or " +
        "paths (CSV), JSON, SKOS, or a tree with names. They replace the groups of the page",
    ),
    item(
      "Review a second version…",
      file(state.groupFiles, "second version"),
      !state.hasTree,
      "The groups of another person, in any format of groups. Compare them with yours, and " +
        "take them over one by one",
    ),
    item(
      "Place new items…",
      file(".csv,.tsv,.txt,.xlsx,.parquet", "new items"),
      !state.hasGroups,
      state.hasGroups
        ? "A table of new items, with the columns of your table. Each gets a group and a " +
            "probability, and joins the data when you accept it"
        : "Select a branch and name it first",
    ),
    folding("kinds", "Open as…", false, "Say what a file holds, or what it adds", [
      item(
        "Table of features…",
        file(".csv,.tsv,.txt,.xlsx,.parquet,.npy,.npz", "features"),
        false,
        "Each row is an item, each column a feature",
      ),
      item(
        "Card sort…",
        file(".csv,.tsv,.txt,.xlsx,.parquet", "card-sort"),
        false,
        "Columns participant, card, pile. Or a row for each participant and a column for each " +
          "card, or the other way round",
      ),
      item("Similarity matrix…", file(".csv,.tsv,.txt,.xlsx,.parquet", "similarity")),
      item("Distance matrix…", file(".csv,.tsv,.txt,.xlsx,.parquet", "distance")),
      item(
        "Sequences…",
        file(".fasta,.fas,.fa,.fna,.ffn,.faa,.frn,.txt,.csv,.tsv,.parquet", "sequences"),
        false,
        "Texts compared by edit distance: FASTA, one text a line, or a table of names and texts",
      ),
      item(
        "Comparisons (CSV)…",
        file(".csv,.tsv,.txt", "comparisons"),
        false,
        "Answers about the items shown are added to them; other answers are opened as new data. " +
          "The header is anchor,near,far; first,second,third,fourth; central,other_1,other_2; " +
          "or odd,other_1,other_2",
      ),
      item(
        "Tree as data…",
        file(".nwk,.newick,.tree,.tre,.txt,.npy", "tree"),
        false,
        "A tree in Newick, or a linkage of scipy (.npy). Its leaves become the items",
      ),
      item("Constraints (CSV)…", file(".csv", "constraints")),
      item(
        "Triplets without a header…",
        file(".csv,.txt", "together-together-apart"),
        false,
        "Three columns: together, together, apart",
      ),
      item(
        "Triplets: anchor, near, far…",
        file(".csv,.txt", "anchor-near-far"),
        false,
        "The format of cblearn: anchor and near are together, far is apart",
      ),
      item(
        "Reference tree (Newick)…",
        file(".nwk,.newick,.tree,.tre,.txt", "reference"),
        false,
        "A tree over some of the items, from another source. Its clades become constraints",
      ),
    ]),
    h("hr"),
    folding("lessons", "Lessons…", false, "For a class: step by step, or guesses", [
      h("div", { class: "head" }, "Step by step, on a projector"),
      state.scripts.map(([name, title]) =>
        item(
          title,
          act("open-script", { name }),
          false,
          "A sentence for each step. The lesson replaces the present session",
        ),
      ),
      item(
        "Open a lesson script…",
        file(".md,.markdown,.txt", "lesson"),
        false,
        "A lesson of your own, in Markdown. Save a lesson's script to see the form",
      ),
      h("div", { class: "head" }, "Guess where items belong"),
      item(
        state.lesson ? "End the lesson" : "Start a lesson",
        act("lesson"),
        !state.lesson && Boolean(state.noLesson),
        state.noLesson || "Guess where items belong; their classes are hidden",
      ),
      state.lessons.map(([name, title]) =>
        item(
          `${title}, step by step`,
          act("open-lesson", { name }),
          false,
          "A prepared lesson, which replaces the present session",
        ),
      ),
    ]),
    item(
      "Present the tree",
      act("present"),
      !state.hasTree || state.lesson,
      "For a projector: large type, no panels, one branch after the other (P)",
    ),
    h("hr"),
    h("div", { class: "head" }, "Save"),
    item("Session", act("save", { what: "session" })),
    item("Constraints (CSV)", act("save", { what: "constraints" }), !state.hasConstraints),
    item("Your comparisons (CSV)", act("save", { what: "answers" }), !state.hasAnswers),
    item("All comparisons (CSV)", act("save", { what: "comparisons" }), !state.hasComparisons),
    folding(
      "formats",
      "Groups as outline, table…",
      !state.hasGroups,
      state.hasGroups ? "The named groups and their items" : "Select a branch and name it first",
      state.formats.map(([format, title]) =>
        item(title, act("save-groups", { format }), !state.hasGroups),
      ),
    ),
    item("Tree (Newick)", act("save", { what: "newick" }), !state.hasTree),
    item("Tree (scipy linkage .npy)", act("save", { what: "linkage" }), !state.hasTree),
    item(
      "Clusters (CSV)",
      act("save", { what: "clusters" }),
      !state.hasClusters,
      state.hasClusters
        ? "Each item with the number of its coloured cluster"
        : "Set the number of clusters above the tree",
    ),
    state.hasCardSort
      ? item(
          "Card sort report (HTML)",
          act("save", { what: "card-sort-report" }),
          !state.hasTree,
          "One page with the tree, the names of piles, the participants and the cards",
        )
      : null,
    folding(
      "picture",
      "Picture…",
      !state.hasTree,
      "The tree as SVG, PDF or PNG, on a page of any size",
      form.element,
      form.ask,
    ),
    h("hr"),
    item(
      "Copy a link to this view",
      act("share"),
      false,
      "Data, method, look, constraints and groups",
    ),
    item(
      "Tour of the page",
      act("tour"),
      state.lesson,
      "Eight short steps to your first correction (?)",
    ),
  )
  const place = () => {
    holder.classList.toggle("open", menuOpen)
    toggle.setAttribute("aria-expanded", String(menuOpen))
    const box = toggle.getBoundingClientRect()
    // In a notebook the bar may be low in the window. The menu then begins above its button.
    const top = Math.max(6, Math.min(box.bottom + 4, innerHeight - 360))
    popup.style.top = `${top}px`
    popup.style.maxHeight = `${innerHeight - top - 12}px`
    popup.style.right = `${Math.max(6, innerWidth - box.right)}px`
  }
  const shut = () => {
    menuOpen = false
    menuScroll = 0
    unfolded.clear()
    for (const group of popup.querySelectorAll(".fold")) group.hidden = true
    for (const line of popup.querySelectorAll("[aria-expanded]"))
      line.setAttribute("aria-expanded", "false")
    holder.classList.remove("open")
    toggle.setAttribute("aria-expanded", "false")
  }
  popup.addEventListener("keydown", event => {
    const items = [...popup.querySelectorAll("button:not(:disabled)")].filter(
      each => each.offsetParent !== null,
    )
    const at = items.indexOf(event.target)
    const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: items.length - 1 }[event.key]
    if (to !== undefined) {
      event.preventDefault()
      items[(to + items.length) % items.length].focus()
    }
    if (event.key === "Escape") {
      event.stopPropagation()
      shut()
      toggle.focus()
    }
  })
  document.addEventListener("click", event => {
    if (menuOpen && !event.composedPath().includes(holder)) shut()
  })
  holder.append(toggle, popup)
  popup.addEventListener("scroll", () => {
    if (popup.isConnected) menuScroll = popup.scrollTop
  })
  if (menuOpen) {
    const scroll = menuScroll
    requestAnimationFrame(() => {
      place()
      popup.scrollTop = scroll
    })
    if (unfolded.has("picture")) form.ask()
  }
  return holder
}

// Files that are dropped on the page, and cells that are pasted where no field has the focus.
function takeFiles(root) {
  if (root.hcTakesFiles) return
  root.hcTakesFiles = true
  const hint = h("div", { class: "drop-hint" }, "Drop the file to open it")
  const inPage = event =>
    event.composedPath().some(node => node.classList?.contains("hc") && within(node, root))
  const open = file => sendChosen(file, root.hcLimit, root.hcSend, "any")
  const hasFile = event => event.dataTransfer?.types.includes("Files") && inPage(event)
  const listeners = {
    dragover: event => {
      if (!hasFile(event)) return
      event.preventDefault()
      root.parentNode.append(hint)
    },
    dragleave: event => {
      if (!event.relatedTarget) hint.remove()
    },
    drop: event => {
      hint.remove()
      if (!hasFile(event)) return
      event.preventDefault()
      if (event.dataTransfer.files[0]) open(event.dataTransfer.files[0])
    },
    paste: event => {
      const path = event.composedPath()
      const field = node => node.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(node.tagName)
      if (path.some(field)) return
      const wholePage = document.documentElement.dataset.hcTheme && path[0] === document.body
      if (!wholePage && !inPage(event)) return
      const text = event.clipboardData?.getData("text/plain") ?? ""
      if (!text.includes("\t")) return
      event.preventDefault()
      open(new File([text], "Pasted table.tsv"))
    },
  }
  for (const [name, listener] of Object.entries(listeners))
    document.addEventListener(name, event => {
      if (root.isConnected) listener(event)
    })
}

// True if a node is inside an element, across shadow roots.
function within(element, node) {
  for (let at = node; at; at = at.parentNode ?? at.host) if (at === element) return true
  return false
}

export const render = component(
  "bar",
  (state, send, root) => {
    root.hcLimit = state.limit
    root.hcSend = send
    takeFiles(root)
    const field = (cls, text, control) =>
      h("label", { class: `field ${cls}`, title: text }, h("span", {}, text), control)
    const pick = (key, pairs, chosen, why = "") =>
      h(
        "select",
        {
          "data-key": key,
          "aria-label": key,
          disabled: Boolean(why),
          title: why || null,
          onchange: event => send(key, { value: event.target.value }),
        },
        options(pairs, chosen),
      )
    const running = state.running
    return [
      h(
        "div",
        { class: "choices" },
        field("data", "Data", pick("data", state.datasets, state.dataset)),
        field(
          "similarity",
          "Similarity",
          pick(
            "similarity",
            state.similarityNote
              ? [[state.similarity, state.similarityNote[0]]]
              : state.similarities,
            state.similarity,
            state.similarityNote?.[1],
          ),
        ),
        field("method", "Method", pick("method", state.methods, state.method)),
        field(
          "seed",
          "Seed",
          h("input", {
            "data-key": "seed",
            "aria-label": "seed",
            type: "number",
            min: 0,
            step: 1,
            value: state.seed,
            onchange: event => send("seed", { value: event.target.value }),
          }),
        ),
      ),
      running
        ? h(
            "button",
            {
              class: "run",
              "data-key": "run",
              onclick: () => send("cancel"),
              title: "Stop the run; the tree stays",
            },
            icon("stop"),
            "Cancel",
          )
        : h(
            "button",
            {
              class: "run main",
              "data-key": "run",
              onclick: () => send("run"),
              title: "Run the method again from the shown tree",
            },
            icon("run"),
            "Run",
          ),
      h(
        "button",
        {
          class: "square",
          "aria-label": state.paused ? "Go on" : "Pause",
          title: state.paused ? "Go on" : "Pause",
          "data-key": "pause",
          disabled: !running,
          onclick: () => send("pause"),
        },
        icon(state.paused ? "run" : "pause"),
      ),
      h("span", { class: "spacer" }),
      h("span", { class: "status", role: "status" }),
      h(
        "button",
        {
          class: "square",
          "aria-label": "Undo",
          title: "Undo (Ctrl+Z)",
          "data-key": "undo",
          disabled: !state.canUndo,
          onclick: () => send("undo"),
        },
        icon("undo"),
      ),
      h(
        "button",
        {
          class: "square",
          "aria-label": "Redo",
          title: "Redo (Ctrl+Y)",
          "data-key": "redo",
          disabled: !state.canRedo,
          onclick: () => send("redo"),
        },
        icon("redo"),
      ),
      fileMenu(state, send, root),
      h(
        "button",
        {
          class: "square",
          "aria-label": state.theme === "dark" ? "Light theme" : "Dark theme",
          "data-key": "theme",
          title: state.theme === "dark" ? "Light theme" : "Dark theme",
          onclick: () => send("theme"),
        },
        icon(state.theme === "dark" ? "sun" : "moon"),
      ),
    ]
  },
  (live, root) => {
    const status = root.querySelector(".status")
    status.className = `status ${live.status ?? ""}`
    status.textContent = visible(live.text ?? "")
    status.title = visible(live.title ?? "")
    status.dataset.run = live.run ?? -1
  },
)
