const figure = count => count.toLocaleString("en-GB")
const percent = share => {
  const p = 100 * share
  return `${p > 99 && p < 100 ? p.toFixed(1) : Math.round(p)} %`
}

// A bar of parts [class, count, word]; empty parts are left out.
function parts(each) {
  const whole = each.reduce((sum, part) => sum + part[1], 0)
  return h(
    "div",
    { class: "parts", "aria-hidden": "true" },
    whole
      ? each
          .filter(p => p[1])
          .map(([kind, count, word]) =>
            h("i", {
              class: kind,
              style: `flex-grow:${count}`,
              title: `${word}: ${figure(count)}`,
            }),
          )
      : h("i", { class: "none", style: "flex-grow:1" }),
  )
}

export const render = component(
  "comparisons",
  (state, send) => {
    if (state.items === undefined) return h("p", { class: "muted" }, "There are no comparisons.")
    const later = () => h("p", { class: "muted small" }, "Not counted yet.")
    const [agreed, against, open] = state.agreement ?? [0, 0, 0]
    const answered = agreed + against
    const pick = items => () => send("pick", { items })
    const word = (count, one) => `${figure(count)} ${one}${count === 1 ? "" : "s"}`
    return h(
      "div",
      { class: "page", "data-scroll": "page", tabindex: 0, "aria-label": "Comparisons" },
      h(
        "section",
        { class: "totals" },
        h(
          "div",
          {},
          h("h3", {}, "Answers"),
          state.kinds.map(([name, about, count]) =>
            h(
              "p",
              { class: "total" },
              h("b", {}, figure(count)),
              h("span", {}, name, h("small", {}, about)),
            ),
          ),
          h(
            "p",
            { class: "muted small" },
            `${word(state.comparisons, "comparison")} in all` +
              (state.own ? `; ${word(state.own, "answer")} your own.` : "."),
          ),
          state.waits ? h("p", { class: "muted small waits", role: "status" }, state.waits) : null,
        ),
        h(
          "div",
          {},
          h("h3", {}, "With each other"),
          !state.items
            ? later()
            : [
                h(
                  "p",
                  { class: "total" },
                  h("b", {}, state.share === null ? "–" : percent(state.share)),
                  h(
                    "span",
                    {},
                    "of repeated questions always have the same answer",
                    h(
                      "small",
                      {},
                      state.repeated
                        ? `${figure(state.agreeing)} of ${figure(state.repeated)} repeated`
                        : "No question was repeated",
                    ),
                  ),
                ),
                parts([
                  ["good", state.agreeing, "Always alike"],
                  ["bad", state.repeated - state.agreeing, "Contradicted"],
                ]),
                h(
                  "p",
                  { class: "muted small" },
                  `${word(state.questions, "different question")}; `,
                  `${percent(state.cyclic)} are in a cycle of answers `,
                  "that no similarity satisfies.",
                ),
              ],
        ),
        h(
          "div",
          {},
          h("h3", {}, "With this tree"),
          !state.agreement
            ? state.tree
              ? later()
              : h("p", { class: "muted small" }, "There is no tree yet.")
            : [
                h(
                  "p",
                  { class: "total" },
                  h("b", {}, answered ? percent(agreed / answered) : "–"),
                  h(
                    "span",
                    {},
                    "of the comparisons that the tree decides agree with it",
                    h(
                      "small",
                      {},
                      `${figure(agreed)} agree, ${figure(against)} contradict it, `,
                      `${figure(open)} are left open`,
                    ),
                  ),
                ),
                parts([
                  ["good", agreed, "Agree"],
                  ["bad", against, "Contradict"],
                  ["open", open, "Left open"],
                ]),
              ],
        ),
      ),
      !state.items
        ? null
        : h(
            "div",
            { class: "lists" },
            h(
              "section",
              {},
              h("h3", {}, "How often each item was compared"),
              h(
                "p",
                { class: "muted small" },
                state.never
                  ? `${word(state.never, "item")} never. Their place in the tree is arbitrary. `
                  : "Every item was compared. ",
                `Half of the items: ${figure(state.median)} times or less often.`,
              ),
              h(
                "ol",
                { class: state.images.length ? "bars" : "bars plain" },
                state.items.map(([id, name, count], k) =>
                  h(
                    "li",
                    {},
                    h(
                      "button",
                      {
                        class: count ? "" : "not-compared",
                        "data-key": `i-${id}`,
                        "data-item": id,
                        "aria-pressed": "false",
                        title: `${name}: in ${word(count, "comparison")}`,
                        onclick: pick([id]),
                      },
                      state.images.length
                        ? state.images[k]
                          ? h("img", { src: state.images[k], alt: "", loading: "lazy" })
                          : h("span", { class: "no-image" })
                        : null,
                      h("span", { class: "name" }, name),
                      h(
                        "span",
                        { class: "bar", "aria-hidden": "true" },
                        h("i", { style: `width:${state.most ? (100 * count) / state.most : 0}%` }),
                      ),
                      h("span", { class: "count" }, count ? figure(count) : "never"),
                    ),
                  ),
                ),
              ),
              state.moreItems
                ? h(
                    "p",
                    { class: "muted small" },
                    `and ${word(state.moreItems, "item")} more that were seen more often.`,
                  )
                : null,
            ),
            h(
              "section",
              {},
              h("h3", {}, "Contradictions"),
              state.contradictions.length
                ? h(
                    "p",
                    { class: "muted small" },
                    "Questions with answers of both kinds. ",
                    "Those with the largest minority come first.",
                  )
                : h("p", { class: "muted small" }, "No answers contradict each other."),
              h(
                "ol",
                { class: "contradictions" },
                state.contradictions.map(({ sentence, agree, disagree, items }, k) =>
                  h(
                    "li",
                    {},
                    h(
                      "button",
                      {
                        "data-key": `x-${k}`,
                        title: "Select these items",
                        onclick: pick(items),
                      },
                      h("span", {}, sentence),
                      h(
                        "span",
                        { class: "counts" },
                        h("b", {}, `${agree} yes`),
                        ` · ${disagree} no`,
                      ),
                    ),
                  ),
                ),
              ),
              state.moreContradictions
                ? h("p", { class: "muted small" }, `and ${figure(state.moreContradictions)} more.`)
                : null,
            ),
          ),
    )
  },
  (live, root) => {
    const chosen = new Set(live.chosen)
    for (const button of root.querySelectorAll("[data-item]")) {
      const now = chosen.has(+button.dataset.item)
      button.classList.toggle("chosen", now)
      button.setAttribute("aria-pressed", String(now))
    }
  },
)
