// What the pages do beyond plain links and forms: times follow the clock, focus follows the page, a request
// that got no answer says so, and what is on screen follows the feed. Nothing here is needed to read or to
// decide; where it runs, Confirm is off while the page may be behind.
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

  const make = (tag, name, ...inside) => {
    const element = document.createElement(tag);
    element.className = name;
    element.append(...inside);
    return element;
  };

  // The line at the bottom: for the eye too, or only for the ear.
  const live = document.getElementById("live");
  const tell = (words, seen = false) => {
    live.classList.toggle("unseen", !seen);
    live.replaceChildren(make("p", "", words));
  };

  // A page is asked for whole, as if it were loaded anew, once nothing else is under way; null where another
  // page is on screen by then.
  let epoch = 0;
  const here = () => location.pathname + location.search;
  const after = (ms) => new Promise((done) => setTimeout(done, ms));
  const busy = () => document.querySelector(".htmx-request, .htmx-swapping, .htmx-settling, .htmx-added");
  const read = async (address) => {
    const before = epoch;
    const answer = await fetch(address, { cache: "no-store", signal: AbortSignal.timeout(20e3) });
    if (answer.redirected) { location.reload(); await new Promise(() => {}); } // to where one signs in
    if (answer.status >= 500) throw Error("no answer");
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    for (const until = Date.now() + 40e3; busy() && Date.now() < until;) await after(50);
    return before === epoch ? page : null;
  };

  // It is put in place with as little touched as can be: who is somewhere stays there, and what was written or
  // opened stays so.
  const keyOf = (node) => node.id || node.getAttribute("href") || node.getAttribute("action")
    || (node.matches("li") && node.firstElementChild ? keyOf(node.firstElementChild) : node.classList[0]);
  const alike = (a, b) => a.nodeName === b.nodeName && (a.nodeType !== Node.ELEMENT_NODE || keyOf(a) === keyOf(b));
  const morph = (old, fresh) => {
    if (old.nodeType !== Node.ELEMENT_NODE) { if (old.data !== fresh.data) old.data = fresh.data; return; }
    for (const { name } of [...old.attributes]) if (name !== "open" && !fresh.hasAttribute(name)) old.removeAttribute(name);
    for (const { name, value } of fresh.attributes) if (name !== "open" && old.getAttribute(name) !== value) old.setAttribute(name, value);
    fill(old, fresh);
  };
  const fill = (old, fresh) => {
    const rest = [...old.childNodes];
    const pairs = [...fresh.childNodes].map((next) => {
      const at = rest.findIndex((node) => alike(node, next));
      return [next, at < 0 ? null : rest.splice(at, 1)[0]];
    });
    for (const node of rest) node.remove(); // first, so that those that stay need not be moved: what is moved loses the focus
    let at = old.firstChild;
    for (const [next, match] of pairs) {
      if (match) morph(match, next);
      if (match && match === at) at = at.nextSibling;
      else old.insertBefore(match ?? document.adoptNode(next), at);
    }
  };
  const inbox = '#top nav a[href="/inbox"]';
  const stand = (page) => {
    const top = document.getElementById("top"), count = page.querySelector(inbox);
    for (const name of ["now", "cursor"]) top.dataset[name] = page.getElementById("top")?.dataset[name] ?? "";
    if (count) fill(document.querySelector(inbox), count);
  };
  const placed = () => {
    const main = document.getElementById("main");
    window.htmx?.process(main);
    readClock(); localise(); tick(); arm();
  };

  // refresh makes the page what it would be if it were loaded anew.
  const refresh = async () => {
    const before = new Map(stale), page = await read(here());
    if (!page) return refresh();
    const shown = confirmable().map((card) => ({ id: card.id, was: { ...card.dataset }, why: card.querySelector(".changed")?.dataset.why }));
    const focus = document.activeElement, near = focus.closest("article")?.id;
    document.title = page.title;
    stand(page);
    seen(before);
    morph(document.getElementById("main"), page.getElementById("main"));
    for (const { id, was, why } of shown) {
      const card = document.getElementById(id);
      if (card?.querySelector("form.confirm")) hold(card, why ?? difference(was, card.dataset));
      else if (card) tell(`A proposal on screen was decided. ${wordsOf(card.querySelector(".outcome"))}`);
    }
    placed();
    if (focus === document.activeElement || focus === document.body) return;
    (focus.isConnected ? focus : document.getElementById(near) ?? document.querySelector("#main h1"))?.focus({ preventScroll: true });
  };

  // The queue. What waits no longer says so where it is; what is new waits at the end to be shown.
  const endings = {
    APPLIED: ["Applied", "tone-good"], FAILED: ["Not applied", "tone-bad"], REJECTED: ["Rejected", "tone-bad"], DISAPPROVED: ["Disapproved", "tone-bad"],
    AWAITING_APPROVAL: ["Awaits approval", "tone-warn"], EXPIRED: ["Expired", ""], WITHDRAWN: ["Withdrawn", ""], SUPERSEDED: ["Superseded", ""],
  };
  const became = new Map(); // by id, of what was told since the page was loaded
  const stale = new Map(); // by id, of cards that something was told of since they were read: how often
  const seen = (before) => { for (const [id, times] of before) if (stale.get(id) === times) stale.delete(id); };
  const rowsOf = (list) => new Map([...list?.querySelectorAll("a.row") ?? []].map((row) => [row.pathname.split("/").pop(), row]));
  const followQueue = (page) => {
    const list = document.querySelector(".queue"), next = page.querySelector(".queue");
    if (!list || !next) return;
    const rows = rowsOf(list), waiting = rowsOf(next), more = next.querySelector(":scope > .more");
    for (const [id, row] of rows) {
      const [words, tone] = endings[became.get(id)] ?? ["No longer waits", ""];
      if (waiting.has(id)) fill(row, waiting.get(id));
      else if (!row.querySelector(".badge")) row.querySelector("small").lastElementChild.replaceWith(make("span", `badge ${tone}`, words));
    }
    if (more && !list.querySelector(":scope > .more")) list.append(more);
    announce(list, [...waiting.keys()].filter((id) => !rows.has(id)));
  };
  const announce = (list, ids) => {
    const kind = ids.every((id) => became.get(id) === "PENDING") ? "new" : "more";
    const words = `${ids.length} ${kind} ${ids.length === 1 ? "proposal" : "proposals"}`, bar = list.querySelector(".news");
    if (!ids.length || bar?.dataset.words === words) return;
    const button = make("button", "", make("span", "", words), make("span", "show", "Show"));
    button.type = "button";
    button.addEventListener("click", () => show());
    const line = make("p", "news", button);
    line.dataset.words = words;
    if (bar) bar.replaceWith(line); else list.append(line);
    tell(`${words} in the inbox.`);
  };
  const show = async () => {
    const before = new Set(rowsOf(document.querySelector(".queue")).keys());
    await refresh().catch(() => lose(0));
    [...rowsOf(document.querySelector(".queue"))].find(([id]) => !before.has(id))?.[1].focus();
  };

  // The cards. One that was decided says so where its buttons were. One that changed is held until it was
  // looked at again.
  const confirmable = () => [...document.querySelectorAll("article.card:has(form.confirm)")];
  const wordsOf = (element) => element?.innerText.replace(/\s+/g, " ").trim() ?? "";
  const difference = (was, is) => was.fingerprint !== is.fingerprint ? "What it would change is not what was on screen."
    : was.until !== is.until ? "It was given more time."
    : was.others !== is.others ? "There are other open proposals on the record now." : "";
  const hold = (card, why, fresh) => {
    const footer = card.querySelector(".actions:has(form.confirm)");
    if (!why) return;
    const words = make("p", "", `This card has changed. ${why}`), button = make("button", "", "Look at it again");
    words.id = `${card.id}-changed`;
    button.type = "button";
    button.addEventListener("click", () => {
      footer.querySelector(".changed").remove();
      if (fresh) morph(card, fresh);
      placed();
      card.focus({ preventScroll: true });
      card.scrollIntoView({ block: "nearest" });
    });
    const before = footer.querySelector(".changed"), bar = make("div", "changed", words, button);
    bar.dataset.why = why;
    before?.remove();
    footer.prepend(bar);
    if (before?.dataset.why !== why) tell(words.textContent);
  };
  const close = (card, fresh) => {
    const outcome = fresh.querySelector(".outcome"), before = card.querySelector(".outcome"), focus = card.contains(document.activeElement);
    for (const part of [".eyebrow", ".records-title", ".timeline ol"]) {
      if (card.querySelector(part) && fresh.querySelector(part)) fill(card.querySelector(part), fresh.querySelector(part));
    }
    const until = card.querySelector(".until"); // what is over leaves its room, so that nothing moves
    until?.classList.toggle("past", !fresh.querySelector(".until"));
    for (const form of until?.querySelectorAll("form") ?? []) {
      if (!fresh.querySelector(`form.${form.className}`)) form.replaceWith(make("span", "past", form.textContent));
    }
    Object.assign(card.dataset, fresh.dataset);
    const footer = card.querySelector(":scope > .actions"), place = make("footer", "actions settled", outcome);
    if (before) before.replaceWith(outcome);
    else if (footer) footer.replaceWith(place);
    else card.append(place);
    if (focus && !card.contains(document.activeElement)) card.focus({ preventScroll: true });
    localise(); tick();
    tell(`A proposal on screen was decided. ${wordsOf(outcome)}`);
  };
  const compare = (card, fresh) => {
    const could = card.querySelector("form.confirm"), can = fresh.querySelector("form.confirm"), why = difference(card.dataset, fresh.dataset);
    if (could && can) hold(card, why, fresh);
    else if (!can && card.dataset.status !== fresh.dataset.status) close(card, fresh);
    else if (could || can || why) morph(card, fresh);
  };
  // Where a card is shown beside its list, the list's page may show another by now.
  const cardIn = async (page, card) => {
    const there = page.getElementById(card.id), id = card.id.replace("card-", "");
    if (there || !became.has(id)) return there;
    return (await read(`/proposals/${id}`))?.getElementById(card.id);
  };
  const update = async () => {
    const before = new Map(stale), page = await read(here());
    if (!page) { changed = true; return; }
    stand(page);
    followQueue(page);
    for (const card of document.querySelectorAll("article.card")) {
      const fresh = await cardIn(page, card);
      if (fresh && card.isConnected) compare(card, fresh);
    }
    seen(before);
    const next = page.querySelector(".next"), pane = document.querySelector(".card-first > .pane");
    if (next && pane && !pane.querySelector(".next")) pane.append(next);
    placed();
  };

  // Confirm is off while the page may be behind, and on a card that changed. It keeps the focus it may have.
  const off = (form) => behind || stale.has(form.closest("article").id) ? "live" : form.closest("article").querySelector(".changed p")?.id;
  const arm = () => {
    for (const form of document.querySelectorAll("form.confirm")) {
      const button = form.querySelector("button"), why = off(form);
      for (const [name, value] of [["aria-disabled", "true"], ["aria-describedby", why]]) {
        if (why) button.setAttribute(name, value); else button.removeAttribute(name);
      }
    }
  };
  document.addEventListener("submit", (event) => {
    if (!event.target.matches("form.confirm") || !off(event.target)) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    if (behind) warn();
  }, true);

  // The feed. A tab has one stream, and only while it is in view, since a browser opens only six connections to
  // a server. Whatever ends the stream, the page is made anew and then followed from its own place in the feed.
  let stream = null, behind = false, opened = 0, heard = 0, tries = 0, timer = 0, warning = 0, recovering = false, changed = false, following = false;
  const hear = () => { heard = Date.now(); };
  const warn = () => tell("Reconnecting. This page may be behind, so Confirm is off until it is up to date.", true);
  const fallBehind = () => {
    behind = true;
    arm();
    clearTimeout(warning);
    warning = setTimeout(warn, 1e3);
  };
  const catchUp = () => {
    behind = false;
    arm();
    clearTimeout(warning);
    if (!live.classList.contains("unseen")) tell("This page is up to date again.");
  };
  const hang = () => {
    stream?.close();
    stream = null;
    clearTimeout(timer);
    if (opened && Date.now() - opened > 10e3) tries = 0;
    opened = 0;
  };
  const lose = (wait) => {
    hang();
    fallBehind();
    timer = setTimeout(recover, wait + (tries++ && 500 * 2 ** Math.min(tries, 6) * (0.5 + Math.random())));
  };
  const recover = async () => {
    if (recovering || document.hidden) return;
    recovering = true;
    const failed = await refresh().then(() => false, () => true);
    recovering = false;
    if (failed) lose(0);
    else if (!document.hidden) listen();
  };
  const listen = () => {
    const cursor = document.getElementById("top").dataset.cursor;
    if (!cursor) { if (behind) catchUp(); return; } // nobody is signed in, or nothing here changes
    hear();
    stream = new EventSource(`/events?after=${encodeURIComponent(cursor)}`);
    stream.addEventListener("open", () => { hear(); opened = heard; if (behind) catchUp(); });
    stream.addEventListener("error", () => lose(1e3 + 3e3 * Math.random()));
    stream.addEventListener("end", () => lose(0));
    stream.addEventListener("alive", hear);
    stream.addEventListener("proposal", (event) => {
      const { proposalId, status, type } = JSON.parse(event.data);
      hear();
      became.set(proposalId, status);
      if (type !== "PROPOSED") stale.set(`card-${proposalId}`, (stale.get(`card-${proposalId}`) ?? 0) + 1); // of which a card on screen tells already
      arm();
      changed = true;
      follow();
    });
  };
  // Many events at a time are one look at the page.
  const follow = async () => {
    if (following) return;
    following = true;
    while (changed && stream) {
      await after(100);
      changed = false;
      await update().catch(() => lose(0));
      await after(400);
    }
    following = false;
  };
  const come = () => { fallBehind(); recover(); };
  document.addEventListener("visibilitychange", () => {
    if (document.visibilityState === "visible") come();
    else { hang(); fallBehind(); clearTimeout(warning); }
  });
  addEventListener("pagehide", hang);
  addEventListener("pageshow", (event) => { if (event.persisted) come(); });
  setInterval(() => { if (stream && Date.now() - heard > (opened ? 65e3 : 15e3)) lose(0); }, 5e3);

  const reveal = (element) => element?.scrollIntoView({ block: "nearest", inline: "nearest" });
  const arrive = () => {
    readClock(); localise(); tick(); forget(); arm(); reveal(document.querySelector(".filters [aria-current]"));
    if (!stream && !behind && !document.hidden) listen();
  };

  document.addEventListener("htmx:afterSettle", (event) => {
    arrive();
    if (event.detail.target?.id !== "main" && event.detail.elt?.id !== "main") return;
    epoch++;
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
  if (document.hidden) behind = true;
  arrive();
})();
