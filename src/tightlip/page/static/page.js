"use strict";
(() => {
  const byId = (id) => document.getElementById(id);

  // what was said in a step and not sent yet: it goes along with whatever leaves the page
  const said = () => {
    const form = document.querySelector('main form[method="get"]');
    return form ? new URLSearchParams(new FormData(form)).toString() : "";
  };
  let sent = "";
  const unsent = () => (said() === sent ? "" : said());
  const again = () => {
    const query = unsent();
    if (query) location.replace(`${location.pathname}?${query}`);
    else location.reload();
  };

  // how far the work is: asked again until it has ended, then the page is loaded with what was found
  const follow = () => {
    const section = byId("progress");
    if (!section) return;
    const words = byId("progress-words");
    const bar = byId("progress-bar");
    const known = document.querySelectorAll("#columns tbody tr, #secrets tbody tr, #released tbody tr").length;
    let pause = 300;
    const ask = async () => {
      try {
        const answer = await fetch(`/job/${encodeURIComponent(section.dataset.job)}`, {
          headers: { Accept: "application/json" },
        });
        if (!answer.ok) throw new Error(String(answer.status));
        const told = await answer.json();
        if (told.ended || (told.columns > 0 && known === 0)) return again();
        if (told.words && words.textContent !== told.words) words.textContent = told.words;
        if (typeof told.share === "number") bar.value = told.share;
        else bar.removeAttribute("value");
        pause = Math.min(2000, pause * 1.3);
      } catch {
        pause = 5000;
      }
      setTimeout(ask, pause);
    };
    setTimeout(ask, pause);
  };

  // the slider writes what it means into the field that is sent
  const slide = () => {
    const slider = byId("slider");
    if (!slider) return;
    const field = byId("budget");
    const levels = byId("levels").options;
    slider.disabled = false;
    const show = () => {
      const level = levels[Number(slider.value)];
      field.value = level.dataset.budget;
      byId("budget-words").textContent = level.dataset.words;
      slider.setAttribute("aria-valuetext", level.dataset.words);
    };
    slider.addEventListener("input", show);
    slider.setAttribute("aria-valuetext", levels[Number(slider.value)].dataset.words);
  };

  // a file that is dropped on the page is sent with a bar
  const drop = () => {
    const form = byId("upload");
    if (!form) return;
    const words = byId("upload-words");
    const bar = byId("upload-bar");
    const send = (file) => {
      const data = new FormData();
      data.append("csrf", document.body.dataset.csrf);
      data.append("file", file);
      const request = new XMLHttpRequest();
      request.open("POST", "/upload");
      request.setRequestHeader("Accept", "application/json");
      bar.hidden = false;
      words.textContent = file.name;
      request.upload.addEventListener("progress", (event) => {
        if (event.lengthComputable) bar.value = event.loaded / event.total;
      });
      request.addEventListener("load", () => {
        let told = {};
        try {
          told = JSON.parse(request.responseText);
        } catch {
          told = { error: request.statusText };
        }
        if (told.go) return location.assign(told.go);
        words.textContent = told.error || request.statusText;
        bar.hidden = true;
      });
      request.addEventListener("error", () => { words.textContent = "not sent"; bar.hidden = true; });
      request.send(data);
    };
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      const file = byId("file").files[0];
      if (file) send(file);
    });
    const over = (on) => (event) => { event.preventDefault(); form.classList.toggle("over", on); };
    document.addEventListener("dragover", over(true));
    document.addEventListener("dragleave", over(false));
    document.addEventListener("drop", (event) => {
      over(false)(event);
      const file = event.dataTransfer && event.dataTransfer.files[0];
      if (file) send(file);
    });
  };

  const copy = () => {
    for (const button of document.querySelectorAll(".copier")) {
      if (!navigator.clipboard) continue;
      button.hidden = false;
      const label = button.textContent;
      button.addEventListener("click", async () => {
        await navigator.clipboard.writeText(byId(button.dataset.copies).textContent);
        button.textContent = "Copied";
        setTimeout(() => { button.textContent = label; }, 1500);
      });
    }
  };

  // empty fields say nothing, so the address stays short
  const tidy = () => {
    for (const form of document.querySelectorAll('form[method="get"]')) {
      form.addEventListener("formdata", (event) => {
        for (const key of [...new Set(event.formData.keys())]) {
          const kept = event.formData.getAll(key).filter((text) => text !== "");
          event.formData.delete(key);
          for (const text of kept) event.formData.append(key, text);
        }
      });
    }
  };

  const carry = () => {
    for (const link of document.querySelectorAll("nav a, main a[href*='?']")) {
      link.addEventListener("click", () => { link.search = unsent() || link.search; });
    }
    for (const form of document.querySelectorAll("main form.carries")) {
      const state = form.elements.namedItem("state");
      form.addEventListener("submit", () => { state.value = unsent() || state.value; });
    }
  };

  tidy();
  sent = said();
  carry(); follow(); slide(); drop(); copy();
})();
