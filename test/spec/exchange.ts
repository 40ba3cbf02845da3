// Speaks to the server in raw bytes, for requests that no HTTP client would send.
import { connect } from 'node:net';

/** What came back, as text, when the server closed the connection or `isWhole` says that all is there. */
export function exchange(
  url: string,
  request: string | Buffer,
  isWhole: (text: string) => boolean = isOneAnswer,
): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(Number(new URL(url).port), '127.0.0.1', () => socket.write(request));
    let text = '';
    socket.setEncoding('utf8');
    socket.on('data', (data: string) => {
      text += data;
      if (isWhole(text)) socket.destroy();
    });
    socket.on('error', reject);
    socket.on('close', () => resolve(text));
  });
}

/** Whether a text is an answer with as many bytes as its `Content-Length` says. */
export function isOneAnswer(text: string): boolean {
  return answersIn(text).length > 0;
}

export interface RawAnswer {
  readonly head: string;
  readonly status: number;
  readonly body: string;
}

/** The whole answers at the beginning of what came back, one after the other. */
export function answersIn(text: string): RawAnswer[] {
  const answers: RawAnswer[] = [];
  let rest = Buffer.from(text);
  for (;;) {
    const end = rest.indexOf('\r\n\r\n');
    const head = rest.toString('utf8', 0, Math.max(end, 0));
    const length = Number(/^content-length: (\d+)$/im.exec(head)?.[1] ?? Number.NaN);
    if (end < 0 || !(rest.length >= end + 4 + length)) return answers;
    const body = rest.toString('utf8', end + 4, end + 4 + length);
    answers.push({ head, status: Number(head.split(' ')[1]), body });
    rest = rest.subarray(end + 4 + length);
  }
}

/** A POST with a body, ready to be sent. */
export function postText(path: string, body: string, headers = ''): string {
  const type = 'Content-Type: application/x-www-form-urlencoded';
  return `POST ${path} HTTP/1.1\r\nHost: x\r\n${type}\r\n${headers}Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
}
