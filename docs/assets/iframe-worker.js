// Browsers start no worker from a file on a disk, and the search of the theme needs one: a hidden frame takes its place.
// https: and http: keep their own workers.
if (location.protocol === "file:") {
  window.IFrameWorker = class extends EventTarget {
    constructor(url) {
      super();
      const frame = document.createElement("iframe");
      frame.hidden = true;
      document.body.appendChild(frame);
      this.frame = frame.contentWindow;
      const page = this.frame.document;
      page.open();
      page.write("<html><body></body></html>");
      page.close();
      // what the worker posts reaches the page, and what the page posts reaches the worker once it has loaded
      this.frame.postMessage = (data) => this.dispatchEvent(new MessageEvent("message", { data }));
      this.frame.importScripts = (...urls) =>
        urls.reduce((before, next) => before.then(() => this.load(next)), Promise.resolve());
      this.ready = this.load(url);
    }
    load(url) {
      return new Promise((loaded, failed) => {
        const script = this.frame.document.createElement("script");
        script.src = url;
        script.onload = loaded;
        script.onerror = () => failed(new Error(`${url} cannot be read`));
        this.frame.document.body.appendChild(script);
      });
    }
    postMessage(data) {
      this.ready.then(() => this.frame.dispatchEvent(new MessageEvent("message", { data })));
    }
    terminate() {
      this.frame.frameElement.remove();
    }
  };
  window.Worker = window.IFrameWorker;
}
