// Keeps an open page as it would be if it were loaded again, and follows the log. Everything can be read without it.
"use strict";
(() => {
  const MOST_LINES = 5000, MOST_CHARACTERS = 2 << 20, NEAR = 24;
  const FOCUSABLE = "a, button, input, summary";
  const page = document.querySelector("[data-events]");
  const log = document.getElementById("log");
  const followButton = document.getElementById("follow"), toEnd = document.getElementById("to-end");
  const logState = document.getElementById("log-state"), lost = document.getElementById("lost");
  let source = null, over = false, following = true;
  let position = log ? log.dataset.position : null;

  // Parts of the page.

  const held = new Map(); // parts with selected text, until nothing is selected in them

  function show(name, html) {
    if (name === "title") {
      document.title = new DOMParser().parseFromString(html, "text/html").body.textContent;
      return;
    }
    const part = document.querySelector(`[data-part="${name}"]`);
    if (!part) return;
    const selection = document.getSelection();
    if (!selection.isCollapsed && selection.containsNode(part, true)) {
      held.set(name, html);
      return;
    }
    held.delete(name);
    const focused = part.contains(document.activeElement) ? document.activeElement : null;
    const again = focused && [...part.querySelectorAll(FOCUSABLE)].indexOf(focused);
    const target = focused && focused.getAttribute("href");
    const chosen = [...part.querySelectorAll("input[type=radio]:checked")].map((each) => [each.name, each.className]);
    const scrolled = [...part.querySelectorAll(".scrolls")].map((each) => [each.scrollLeft, each.scrollTop]);
    const opened = [...part.querySelectorAll("details[open] > summary")].map((each) => each.firstChild.data);
    part.innerHTML = html;
    for (const each of part.querySelectorAll("details > summary")) {
      each.parentElement.open = opened.includes(each.firstChild.data);
    }
    for (const [group, order] of chosen) {
      const again = part.querySelector(`input[name="${group}"].${order}`);
      if (again) again.checked = true;
    }
    part.querySelectorAll(".scrolls").forEach((each, index) => {
      [each.scrollLeft, each.scrollTop] = scrolled[index] || [0, 0];
    });
    if (focused) {
      const all = [...part.querySelectorAll(FOCUSABLE)];
      (all.find((each) => target !== null && each.getAttribute("href") === target) || all[again] || page).focus();
    }
  }

  document.addEventListener("selectionchange", () => {
    if (document.getSelection().isCollapsed) for (const [name, html] of [...held]) show(name, html);
  });

  // The log. Only its last lines are in the page.

  const pieces = [];
  let lines = 0, characters = 0;

  function endsIn(text) {
    let count = 0;
    for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) count++;
    return count;
  }

  function keep(node) {
    pieces.push(node);
    lines += endsIn(node.data);
    characters += node.data.length;
    while (lines > MOST_LINES || characters > MOST_CHARACTERS) {
      const text = pieces[0].data;
      let cut = Math.min(text.length, Math.max(0, characters - MOST_CHARACTERS));
      for (let more = lines - MOST_LINES - endsIn(text.slice(0, cut)); more > 0 && cut < text.length; more--) {
        cut = text.indexOf("\n", cut) + 1 || text.length;
      }
      lines -= endsIn(text.slice(0, cut));
      characters -= cut;
      if (cut === text.length) pieces.shift().remove();
      else pieces[0].data = text.slice(cut);
      logState.textContent = "Only the last lines are here. Earlier ones are in the whole log.";
    }
  }

  function append(text) {
    const node = document.createTextNode(text);
    log.append(node);
    keep(node);
    log.scrollTop = log.scrollHeight;
  }

  function clearLog() {
    for (const each of pieces.splice(0)) each.remove();
    lines = characters = 0;
  }

  function setFollowing(wanted) {
    if (following === wanted || over) return;
    following = wanted;
    followButton.textContent = wanted ? "Pause" : "Follow";
    followButton.setAttribute("aria-pressed", String(wanted));
    logState.textContent = wanted ? "" : "Paused. Follow shows what came since.";
    if (wanted) log.scrollTop = log.scrollHeight;
    open();
  }

  function atEnd() {
    return log.scrollHeight - log.scrollTop - log.clientHeight < NEAR;
  }

  // The stream of events. A hidden page has none: a browser has only six connections to one server.

  function open() {
    close();
    if (over || document.hidden) return;
    const address = new URL(page.dataset.events, location.href);
    if (log && following) {
      address.searchParams.set("host", log.dataset.host);
      address.searchParams.set("from", position);
    }
    const stream = source = new EventSource(address);
    const on = (kind, act) => stream.addEventListener(kind, (event) => { if (stream === source) act(event); });
    on("open", () => { lost.hidden = true; });
    on("part", (event) => {
      const cut = event.data.indexOf("\n");
      show(event.data.slice(0, cut), event.data.slice(cut + 1));
    });
    on("restart", clearLog);
    on("log", (event) => {
      position = event.lastEventId;
      append(event.data);
    });
    on("end", () => finish(""));
    on("gone", () => finish("This job was removed."));
    stream.onerror = () => {
      if (stream !== source) return;
      lost.hidden = false;
      lost.textContent = `No connection to the server since ${new Date().toISOString().slice(11, 19)} UTC.`;
      if (stream.readyState === EventSource.CLOSED) lost.textContent += " Reload the page to connect again.";
    };
  }

  function close() {
    if (source) source.close();
    source = null;
  }

  function finish(sentence) {
    close();
    if (sentence) {
      lost.hidden = false;
      lost.textContent = sentence;
    }
    if (log && !following && !sentence) return; // the rest of the log is shown by Follow
    over = true;
    if (log) {
      followButton.hidden = true;
      logState.textContent = "The log is complete.";
    }
  }

  if (page) {
    if (log) {
      if (log.firstChild) keep(log.firstChild);
      log.scrollTop = log.scrollHeight;
      followButton.hidden = toEnd.hidden = false;
      followButton.addEventListener("click", () => setFollowing(!following));
      toEnd.addEventListener("click", () => {
        if (!over) {
          position = "end";
          following = false;
          setFollowing(true);
        }
        log.scrollTop = log.scrollHeight;
      });
      log.addEventListener("wheel", (event) => { if (event.deltaY < 0) setFollowing(false); }, { passive: true });
      log.addEventListener("keydown", (event) => {
        if (["ArrowUp", "PageUp", "Home"].includes(event.key)) setFollowing(false);
      });
      log.addEventListener("scroll", () => {
        if (following && !atEnd()) setFollowing(false);
      });
    }
    document.addEventListener("visibilitychange", open);
    addEventListener("pagehide", close);
    addEventListener("pageshow", (event) => { if (event.persisted) open(); });
    open();
  }

  // The form for a job file.

  const file = document.getElementById("file"), text = document.getElementById("document");
  if (file) {
    document.getElementById("pick").hidden = false;
    file.addEventListener("change", async () => {
      if (file.files[0]) text.value = await file.files[0].text();
    });
  }
})();
