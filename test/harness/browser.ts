// A browser for tests: the one build there is of it, unpacked into a folder that is removed afterwards.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import type { Browser } from 'playwright-core';

/** Why there is no browser here; false where there is. */
export const noBrowser =
  process.platform === 'linux' && process.arch === 'x64' ? false : `no browser for ${process.platform} ${process.arch}`;

/** It asks nobody anything but the pages of a test. */
const QUIET = [
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--no-first-run',
] as const;

/** Starts a browser, which ends with the test; null where the system lacks libraries that it needs. */
export async function startBrowser(t: TestContext): Promise<Browser | null> {
  const folder = mkdtempSync(join(tmpdir(), 'daicho-test-'));
  const { TMPDIR } = process.env;
  // All that it unpacks and writes goes there.
  process.env.TMPDIR = folder;
  let browser: Browser | null = null;
  t.after(async () => {
    await browser?.close();
    if (TMPDIR === undefined) delete process.env.TMPDIR;
    else process.env.TMPDIR = TMPDIR;
    rmSync(folder, { recursive: true, maxRetries: 5 });
  });
  const [{ default: chromium }, { chromium: playwright }] = await Promise.all([
    import('@sparticuz/chromium'),
    import('playwright-core'),
  ]);
  try {
    const executablePath = await chromium.executablePath();
    browser = await playwright.launch({ args: [...chromium.args, ...QUIET], executablePath, headless: true });
  } catch (error) {
    if (!(error as Error).message.includes('error while loading shared libraries')) throw error;
  }
  return browser;
}
