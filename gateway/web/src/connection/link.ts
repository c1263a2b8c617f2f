// How does the socket to the gateway stay up?

import { decodeServerEvent } from "../wire/decode";
import type { ClientFrame, ServerEvent } from "../wire/generated";
import type { Link as LinkState } from "../state/model";
import { backoffMs } from "./backoff";
import { type LinkEvent, nextLink } from "./states";

/** A dead connection (a laptop that slept) looks open until somebody asks. */
const PING_EVERY_MS = 20_000;
const SILENT_FOR_MS = 10_000;

export interface LinkHandlers {
  onState: (state: LinkState) => void;
  onOpen: () => void;
  onFrame: (frame: ServerEvent) => void;
}

export type SocketFactory = (url: string) => WebSocket;

export class Link {
  private state: LinkState = "idle";
  private socket: WebSocket | null = null;
  private failures = 0;
  private retryTimer: ReturnType<typeof setTimeout> | undefined;
  private pingTimer: ReturnType<typeof setTimeout> | undefined;

  constructor(
    private readonly url: string,
    private readonly handlers: LinkHandlers,
    private readonly makeSocket: SocketFactory = (address) => new WebSocket(address),
  ) {}

  get isOpen(): boolean {
    return this.state === "open";
  }

  start(): void {
    this.move("start");
    this.connect();
  }

  stop(): void {
    if (this.state !== "idle") {
      this.detach();
      this.move("stop");
    }
  }

  /** Do not wait for the timer: the network is back, or the user looks at the page again. */
  hurry(): void {
    if (this.state === "waiting") {
      this.retry();
    }
  }

  /** Whether the frame was handed to an open socket; nothing is kept for later. */
  send(frame: ClientFrame): boolean {
    if (this.state !== "open" || this.socket === null) {
      return false;
    }
    this.socket.send(JSON.stringify(frame));
    return true;
  }

  private move(event: LinkEvent): void {
    this.state = nextLink(this.state, event);
    this.handlers.onState(this.state);
  }

  private connect(): void {
    const socket = this.makeSocket(this.url);
    this.socket = socket;
    socket.onopen = () => this.opened();
    socket.onclose = () => this.lost();
    socket.onmessage = (message: MessageEvent<unknown>) => this.received(message.data);
  }

  private opened(): void {
    this.move("opened");
    this.handlers.onOpen();
    this.ping();
  }

  private received(data: unknown): void {
    this.failures = 0;
    this.rearm();
    const frame = typeof data === "string" ? decodeServerEvent(data) : null;
    if (frame !== null) {
      this.handlers.onFrame(frame);
    }
  }

  private lost(): void {
    this.detach();
    this.move("lost");
    this.retryTimer = setTimeout(() => this.retry(), backoffMs(this.failures));
    this.failures += 1;
  }

  private retry(): void {
    clearTimeout(this.retryTimer);
    this.move("retry");
    this.connect();
  }

  /** From here on this socket's events mean nothing to us. */
  private detach(): void {
    clearTimeout(this.retryTimer);
    clearTimeout(this.pingTimer);
    const socket = this.socket;
    this.socket = null;
    if (socket !== null) {
      socket.onopen = socket.onclose = socket.onmessage = null;
      socket.close();
    }
  }

  private ping(): void {
    this.send({ type: "ping" });
    clearTimeout(this.pingTimer);
    this.pingTimer = setTimeout(() => this.lost(), SILENT_FOR_MS);
  }

  private rearm(): void {
    clearTimeout(this.pingTimer);
    this.pingTimer = setTimeout(() => this.ping(), PING_EVERY_MS);
  }
}
