// Listens for notices on a connection of its own, and on another one when that is lost.
import { type Link, type LinkOptions, openLink } from './link.ts';

export interface Hearer {
  onNotice(payload: string): void;
  /** It listens, for the first time or again: some notices may have been missed. */
  onListening?(): void;
  /** It listens no more, until `onListening`. */
  onDeaf?(): void;
}

export interface Listener {
  add(channel: string, hearer: Hearer): void;
  /** Listens on another connection, where this one may lead nowhere. */
  renew(): void;
  close(): void;
}

/** Milliseconds between attempts to connect. */
const RECONNECT_AFTER = 200;

/** Listens from the first channel on. */
export function newListener(options: Pick<LinkOptions, 'url' | 'settings'>): Listener {
  const channels = new Map<string, Hearer>();
  let link: Link | null = null;
  let isClosed = false;

  const listenTo = async (on: Link, channel: string): Promise<void> => {
    await on.query(`listen "${channel.replaceAll('"', '""')}"`, [], { prepare: false });
    if (on === link) channels.get(channel)?.onListening?.();
  };
  const later = (): void => {
    if (!isClosed) setTimeout(() => void start(), RECONNECT_AFTER).unref();
  };
  const onLost = (lost: Link): void => {
    if (lost !== link) return;
    link = null;
    for (const hearer of channels.values()) hearer.onDeaf?.();
    later();
  };
  const onNotice = (channel: string, payload: string) => channels.get(channel)?.onNotice(payload);
  const start = async (): Promise<void> => {
    const opened = await openLink({ ...options, onLost, onNotice }).catch(() => null);
    if (opened === null || opened.isLost) later();
    else if (isClosed) opened.close();
    else {
      link = opened;
      // Where that fails the connection is lost, and another one listens.
      await Promise.all([...channels.keys()].map((channel) => listenTo(opened, channel))).catch(() => opened.close());
    }
  };
  return {
    add(channel, hearer) {
      channels.set(channel, hearer);
      const on = link;
      if (on !== null) void listenTo(on, channel).catch(() => on.close());
      else if (channels.size === 1) void start();
    },
    renew() {
      link?.close();
    },
    close() {
      isClosed = true;
      link?.close();
    },
  };
}
