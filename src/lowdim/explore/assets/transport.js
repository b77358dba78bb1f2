// How the page talks to the session: over a socket to the server that sent it, or (widget.js) through a notebook. A
// transport has send(message), and calls back: opened(), received(text or ArrayBuffer), lost(why).

class SocketTransport {
  constructor() {
    this.tries = 0;
  }

  open(callbacks) {
    this.callbacks = callbacks;
    this.socket = new WebSocket(`ws://${location.host}${location.pathname}socket`);
    this.socket.binaryType = "arraybuffer";
    this.socket.onopen = () => {
      this.since = performance.now();
      callbacks.opened();
    };
    this.socket.onmessage = (event) => {
      this.tries = 0;
      callbacks.received(event.data);
    };
    this.socket.onclose = (event) => this.closed(event);
  }

  // A reload may come before the server has noticed that the page before is gone, so a new one knocks again.
  closed(event) {
    this.callbacks.lost(event.reason || "The session is over: the terminal of lowdim explore was closed, or Ctrl-C was pressed.");
    if (event.code === 1008 || this.tries++ > 20) return;
    setTimeout(() => this.open(this.callbacks), Math.min(2000, 100 * 1.5 ** this.tries));
  }

  close() {
    this.tries = Infinity;
    this.socket.close();
  }

  send(message) {
    if (this.socket?.readyState === WebSocket.OPEN) this.socket.send(JSON.stringify(message));
  }
}

class NotebookTransport {
  constructor(model) {
    this.model = model;
  }

  open(callbacks) {
    this.heard = (content, buffers) => {
      if (content.text) callbacks.received(content.text);
      for (const { buffer, byteOffset, byteLength } of buffers ?? []) callbacks.received(buffer.slice(byteOffset, byteOffset + byteLength));
    };
    this.model.on("msg:custom", this.heard);
    this.model.send({ open: true });
  }

  send(message) {
    this.model.send({ text: JSON.stringify(message) });
  }

  close() {
    this.model.off("msg:custom", this.heard);
  }
}
