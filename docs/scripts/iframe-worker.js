// Browsers start no worker for a page that is read from disk. There the search runs in a hidden frame
// instead, which takes and posts the same messages.
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(url) {
      super();
      const frame = document.createElement("iframe");
      frame.hidden = true;
      frame.title = "search";
      this.waiting = [];
      document.documentElement.append(frame);
      const script = frame.contentDocument.createElement("script");
      script.src = url;
      script.onload = () => {
        this.post = (data) =>
          frame.contentWindow.dispatchEvent(new MessageEvent("message", { data }));
        this.waiting.splice(0).forEach(this.post);
      };
      frame.contentWindow.postMessage = (data) =>
        setTimeout(() => this.dispatchEvent(new MessageEvent("message", { data })));
      frame.contentDocument.head.append(script);
    }
    postMessage(data) {
      if (this.post) setTimeout(this.post, 0, data);
      else this.waiting.push(data);
    }
  };
}
