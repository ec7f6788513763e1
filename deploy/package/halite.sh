#!/bin/sh
# Starts Halite with the C library and the other libraries beside it, whatever this system has.
here=$(dirname -- "$(readlink -f -- "$0")")/..
export GCONV_PATH="$here/lib/gconv"
[ -e /usr/share/zoneinfo/UTC ] || export TZDIR="${TZDIR-$here/share/zoneinfo}"
# Where distributions keep the certificates that they trust. The library itself knows Debian's place.
if [ -z "${SSL_CERT_FILE-}${SSL_CERT_DIR-}" ]; then
  for file in /etc/ssl/certs/ca-certificates.crt /etc/pki/tls/certs/ca-bundle.crt /etc/ssl/ca-bundle.pem /etc/ssl/cert.pem; do
    if [ -r "$file" ]; then
      export SSL_CERT_FILE="$file"
      break
    fi
  done
fi
exec "$here/lib/@LOADER@" --inhibit-cache --library-path "$here/lib" --argv0 "$0" "$here/lib/halite" "$@"
