// Content-Disposition of a download: its file name for all clients, whatever the name holds (RFC 6266, RFC 8187).

/** What stands in the quotes of `filename` as it is: ASCII that no client and no file system reads as anything but itself. */
const NOT_PLAIN = /[^ !#$&'()+,\-.0-9;=@A-Z[\]^_`a-z{}~]/gu;
/** What encodeURIComponent leaves though RFC 8187 does not. */
const LEFT = /[*'()]/g;

/** Characters of a name that are told: no file system takes more, and a header has an end. */
const LONGEST = 255;

/** The header's value: to be kept as a file, under this name; of a very long one, its end. */
export function attachment(name: string): string {
  const named = name.trim() === '' ? 'file' : [...name].slice(-LONGEST).join('');
  const encoded = encodeURIComponent(named).replace(
    LEFT,
    (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  return `attachment; filename="${named.replace(NOT_PLAIN, '_')}"; filename*=UTF-8''${encoded}`;
}
