"use strict";
(() => {
  const root = document.documentElement;
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const theme = document.getElementById("theme");
  const isDark = () => (root.dataset.theme ? root.dataset.theme === "dark" : dark.matches);
  theme.hidden = false;
  theme.addEventListener("click", () => {
    root.dataset.theme = isDark() ? "light" : "dark";
  });

  const form = document.getElementById("filter");
  if (!form) return;
  const shown = document.getElementById("shown");
  const cards = [...document.querySelectorAll(".cause")].map((card) => ({
    card,
    head: card.querySelector("summary").textContent.toLowerCase(),
    rows: [...card.querySelectorAll("tbody tr[data-files]")].map((row) => ({
      row,
      files: row.dataset.files,
      ranks: row.dataset.ranks,
      rule: row.dataset.rule,
      text: row.textContent.toLowerCase(),
    })),
  }));
  const total = cards.reduce((sum, one) => sum + one.rows.length, 0);
  const holds = (spans, wanted) =>
    wanted === "" ||
    spans.split(",").some((span) => {
      const [first, last = first] = span.split("-");
      return span !== "" && Number(first) <= Number(wanted) && Number(wanted) <= Number(last);
    });

  const apply = () => {
    const wanted = Object.fromEntries(new FormData(form));
    const words = wanted.search.toLowerCase().split(/\s+/).filter(Boolean);
    let count = 0;
    for (const { card, head, rows } of cards) {
      const ofVerdict = wanted.verdict === "" || card.dataset.verdict === wanted.verdict;
      let any = false;
      for (const { row, files, ranks, rule, text } of rows) {
        const keep =
          ofVerdict &&
          (wanted.rule === "" || rule === wanted.rule) &&
          holds(files, wanted.file) &&
          holds(ranks, wanted.rank ?? "") &&
          words.every((word) => text.includes(word) || head.includes(word));
        row.hidden = !keep;
        count += keep;
        any ||= keep;
      }
      card.hidden = !any;
    }
    shown.textContent = `${count.toLocaleString("en")} of ${total.toLocaleString("en")} listed places`;
  };

  form.hidden = false;
  form.addEventListener("input", apply);
  form.addEventListener("reset", () => setTimeout(apply));
  form.addEventListener("submit", (event) => event.preventDefault());
  apply();

  const openTarget = () => {
    const target = location.hash && document.getElementById(location.hash.slice(1));
    for (let one = target; one; one = one.parentElement) if (one.localName === "details") one.open = true;
    if (target) target.scrollIntoView();
  };
  addEventListener("hashchange", openTarget);
  openTarget();
})();
