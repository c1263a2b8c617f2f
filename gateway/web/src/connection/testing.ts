// A socket that a test holds in its hand.

import type { ClientFrame, ServerEvent } from "../wire/generated";

export class FakeSocket {
  static all: FakeSocket[] = [];
  onopen: (() => void) | null = null;
  onclose: (() => void) | null = null;
  onmessage: ((message: { data: unknown }) => void) | null = null;
  closed = false;
  readonly sent: ClientFrame[] = [];

  constructor(readonly url: string) {
    FakeSocket.all.push(this);
  }

  static readonly make = (url: string): WebSocket => new FakeSocket(url) as unknown as WebSocket;

  static get last(): FakeSocket {
    const socket = FakeSocket.all.at(-1);
    if (socket === undefined) {
      throw new Error("nobody made a socket");
    }
    return socket;
  }

  send(text: string): void {
    this.sent.push(JSON.parse(text) as ClientFrame);
  }

  close(): void {
    this.closed = true;
  }

  open(): void {
    this.onopen?.();
  }

  drop(): void {
    this.onclose?.();
  }

  receive(...frames: ServerEvent[]): void {
    for (const frame of frames) {
      this.onmessage?.({ data: JSON.stringify(frame) });
    }
  }

  /** What was sent, without the pings. */
  get said(): ClientFrame[] {
    return this.sent.filter((frame) => frame.type !== "ping");
  }
}
