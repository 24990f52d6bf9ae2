// What the pages do beyond plain links and forms: times follow the clock, focus follows the page, and a
// request that got no answer says so. Nothing here is needed to read or to decide.
(() => {
  "use strict";

  const units = [["second", 60e3, 1e3], ["minute", 36e5, 6e4], ["hour", 1728e5, 36e5], ["day", Infinity, 864e5]];
  const span = (ms) => {
    const [noun, , size] = units.find(([, below]) => ms < below);
    const n = Math.floor(ms / size);
    return `${n} ${noun}${n === 1 ? "" : "s"}`;
  };
  const relative = (away) => away > 0 ? `in ${span(away)}` : away > -60e3 ? "just now" : `${span(-away)} ago`;
  const left = (away) => away > 0 ? `${span(away)} left` : "no time left";

  // The server's clock, whatever the one of this machine says.
  let ahead = 0;
  const readClock = () => {
    const now = Date.parse(document.getElementById("top")?.dataset.now ?? "");
    if (now) ahead = now - Date.now();
  };
  const serverNow = () => Date.now() + ahead;

  const each = (name, write) => {
    for (const element of document.querySelectorAll(`[data-${name}]`)) {
      const words = write(Date.parse(element.dataset[name]));
      if (element.textContent !== words) element.textContent = words;
    }
  };
  const tick = () => {
    each("relative", (at) => relative(at - serverNow()));
    each("left", (at) => left(at - serverNow()));
  };

  const time = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit" });
  const day = new Intl.DateTimeFormat("en-GB", { weekday: "short", day: "numeric", month: "short", year: "numeric" });
  const localise = () => each("clock", (at) => {
    const sameDay = day.format(at) === day.format(serverNow());
    return sameDay ? time.format(at) : `${day.format(at).replace(",", "")}, ${time.format(at)}`;
  });

  // A notice is for the moment: a copied or reloaded address does not repeat it.
  const forget = () => {
    const here = new URL(location.href);
    if (!here.searchParams.has("notice")) return;
    here.searchParams.delete("notice");
    history.replaceState(history.state, "", here);
  };

  const say = (words) => {
    const region = document.getElementById("notice");
    const line = document.createElement("p");
    line.textContent = words;
    region?.replaceChildren(line);
  };

  const reveal = (element) => element?.scrollIntoView({ block: "nearest", inline: "nearest" });
  const arrive = () => { readClock(); localise(); tick(); forget(); reveal(document.querySelector(".filters [aria-current]")); };

  document.addEventListener("htmx:afterSettle", (event) => {
    arrive();
    if (event.detail.target?.id !== "main" && event.detail.elt?.id !== "main") return;
    const there = location.hash && document.getElementById(location.hash.slice(1));
    (document.querySelector("#main [role=alert]") ?? (there || document.querySelector("#main h1")))?.focus({ preventScroll: true });
  });
  for (const failure of ["htmx:sendError", "htmx:timeout"]) {
    document.addEventListener(failure, () => say("The server did not answer. Reload the page to see how things stand before you repeat anything."));
  }

  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape") for (const menu of document.querySelectorAll("details.account[open]")) menu.open = false;
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey) && event.target.matches?.(".compose textarea")) event.target.form.requestSubmit();
  });
  document.addEventListener("click", (event) => {
    for (const menu of document.querySelectorAll("details.account[open]")) if (!menu.contains(event.target)) menu.open = false;
  });
  document.addEventListener("toggle", (event) => {
    if (event.target.open && event.target.matches(".reject")) reveal(event.target.closest(".actions"));
  }, true);
  document.addEventListener("visibilitychange", tick);
  setInterval(tick, 10e3);
  arrive();
})();
