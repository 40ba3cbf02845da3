// Which addresses deliveries go to: none of this machine or of a private network, unless the operator allows it.
import { type LookupAddress, lookup as resolve } from 'node:dns';
import { BlockList, isIP, isIPv6, type LookupFunction } from 'node:net';

const PRIVATE_IPV4 = [
  // This network, private ones, those of carriers, loopback, link-local.
  ...['0.0.0.0/8', '10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', '100.64.0.0/10', '127.0.0.0/8', '169.254.0.0/16'],
  // Protocols, measuring, multicast, reserved and broadcast.
  ...['192.0.0.0/24', '198.18.0.0/15', '224.0.0.0/4', '240.0.0.0/4'],
];
const PRIVATE_IPV6 = [
  // Unspecified, loopback, unique-local, link-local, site-local, multicast, discarded, translation inside of a network.
  ...['::/128', '::1/128', '100::/64', 'fc00::/7', 'fe80::/10', 'fec0::/10', 'ff00::/8', '64:ff9b:1::/48'],
  // Tunnels, which lead to any IPv4 address.
  ...['2001::/32', '2002::/16'],
];
/** What stands before the 32 bits of an IPv4 address: mapped, compatible, translated. */
const IPV4_IN_IPV6 = ['::ffff:', '::ffff:0:', '::', '64:ff9b::'];

const refused = new BlockList();
for (const range of PRIVATE_IPV4) {
  const [address, bits] = range.split('/') as [string, string];
  refused.addSubnet(address, Number(bits), 'ipv4');
  for (const before of IPV4_IN_IPV6) refused.addSubnet(before + address, 96 + Number(bits), 'ipv6');
}
for (const range of PRIVATE_IPV6) {
  const [address, bits] = range.split('/') as [string, string];
  refused.addSubnet(address, Number(bits), 'ipv6');
}

/** Whether an IP address is one that deliveries do not go to. */
export function isPrivate(address: string): boolean {
  // A zone, as in fe80::1%eth0, names an interface of this machine.
  const [plain = ''] = address.split('%');
  return refused.check(plain, isIPv6(plain) ? 'ipv6' : 'ipv4');
}

/** The host of a URL where it is an IP address; null where it is a name. */
export function addressIn({ hostname }: URL): string | null {
  const host = hostname.replace(/^\[(.*)\]$/, '$1');
  return isIP(host) === 0 ? null : host;
}

export class PrivateAddress extends Error {
  constructor(address: string) {
    super(`the address ${address} is of this machine or of a private network, which WEBHOOK_PRIVATE does not allow`);
    this.name = 'PrivateAddress';
  }
}

/** Resolves a name for a connection, which goes to what was judged here; one private address among its addresses refuses it. */
export const judgingLookup: LookupFunction = (hostname, options, callback) => {
  resolve(hostname, { ...options, all: true }, (error, addresses) => {
    const found = addresses ?? [];
    const wrong = found.find(({ address }) => isPrivate(address));
    if (error !== null || wrong !== undefined) callback(error ?? new PrivateAddress(wrong?.address ?? ''), []);
    else if (options.all) callback(null, found);
    else {
      const { address, family } = found[0] as LookupAddress;
      callback(null, address, family);
    }
  });
};
