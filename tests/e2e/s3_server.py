"""A small S3 store, written from Amazon's documentation alone: one bucket, objects in memory. It computes each
signature itself, and refuses a request whose signature, payload or time is not right."""

import datetime
import hashlib
import hmac
import http.server
import re
import ssl
import threading
import time
import urllib.parse
import xml.sax.saxutils

TIME = "%Y%m%dT%H%M%SZ"


def _hmac(key, text):
    return hmac.new(key, text.encode(), hashlib.sha256).digest()


class Refusal(Exception):
    def __init__(self, status, code):
        super().__init__(code)
        self.status, self.code = status, code


class S3Server:
    """`with S3Server(..) as s3`: listens on a free port until the end."""

    def __init__(self, certificate=None, key=None, put_seconds=0.0):
        self.bucket, self.key_id, self.secret, self.region = "backups", "AKSMALL", "small/+=secret", "us-east-1"
        self.put_seconds = put_seconds  # how long each PUT takes
        self.stored = {}  # key: (bytes, modified)
        self.uploads = {}  # id: {number: bytes}
        self.requests = []  # "PUT key"
        server = self

        class Handler(_Handler):
            store = server

        self.http = _Quiet(("127.0.0.1", 0), Handler)
        self.http.daemon_threads = True
        if certificate:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(certificate, key)
            self.http.socket = context.wrap_socket(self.http.socket, server_side=True)
        self.endpoint = f"http{'s' if certificate else ''}://127.0.0.1:{self.http.server_port}"
        self.thread = threading.Thread(target=self.http.serve_forever, daemon=True)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.http.shutdown()
        self.http.server_close()
        self.thread.join()

    def objects(self):
        return {key: content for key, (content, _) in list(self.stored.items())}

    def put(self, key, content):
        self.stored[key] = (content, time.time())


class _Quiet(http.server.ThreadingHTTPServer):
    def handle_error(self, request, client_address):
        """A client that was killed closes its connection."""


class _Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    store = None

    def log_message(self, *_):
        pass

    def do_any(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        try:
            path, _, query = self.path.partition("?")
            parameters = dict(urllib.parse.parse_qsl(query, keep_blank_values=True))
            self.check_signature(path, parameters, body)
            bucket, _, key = urllib.parse.unquote(path)[1:].partition("/")
            if bucket != self.store.bucket:
                raise Refusal(404, "NoSuchBucket")
            self.store.requests.append(f"{self.command} {key}")
            self.answer(*self.carry_out(key, parameters, body))
        except Refusal as refusal:
            self.answer(refusal.status, f"<Error><Code>{refusal.code}</Code><Message/></Error>".encode())

    do_GET = do_PUT = do_POST = do_DELETE = do_any

    def answer(self, status, body=b"", headers=None):
        self.send_response(status)
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        if status != 204:
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def check_signature(self, path, parameters, body):
        found = re.fullmatch(r"AWS4-HMAC-SHA256 Credential=([^/]+)/(\d{8})/([^/]+)/s3/aws4_request, "
                             r"SignedHeaders=([a-z0-9;-]+), Signature=([0-9a-f]{64})",
                             self.headers.get("Authorization", ""))
        if not found:
            raise Refusal(403, "AccessDenied")
        key_id, day, region, names, signature = found.groups()
        if key_id != self.store.key_id:
            raise Refusal(403, "InvalidAccessKeyId")
        if region != self.store.region:
            raise Refusal(400, "AuthorizationHeaderMalformed")
        when = self.headers["x-amz-date"]
        now = datetime.datetime.now(datetime.timezone.utc).replace(tzinfo=None)
        if abs(now - datetime.datetime.strptime(when, TIME)).total_seconds() > 900:
            raise Refusal(403, "RequestTimeTooSkewed")
        payload = self.headers["x-amz-content-sha256"]
        if payload != hashlib.sha256(body).hexdigest():
            raise Refusal(400, "XAmzContentSHA256Mismatch")
        if not {"host", "x-amz-date", "x-amz-content-sha256"} <= set(names.split(";")):
            raise Refusal(403, "AccessDenied")
        quote = lambda text: urllib.parse.quote(text, safe="-._~")  # noqa: E731
        canonical = "\n".join([
            self.command, urllib.parse.quote(urllib.parse.unquote(path), safe="/-._~"),
            "&".join(f"{quote(name)}={quote(parameters[name])}" for name in sorted(parameters)),
            *(f"{name}:{self.headers[name].strip()}" for name in names.split(";")), "", names, payload])
        scope = f"{day}/{region}/s3/aws4_request"
        text = "\n".join(["AWS4-HMAC-SHA256", when, scope, hashlib.sha256(canonical.encode()).hexdigest()])
        key = ("AWS4" + self.store.secret).encode()
        for part in (day, region, "s3", "aws4_request"):
            key = _hmac(key, part)
        if _hmac(key, text).hex() != signature:
            raise Refusal(403, "SignatureDoesNotMatch")

    def carry_out(self, key, parameters, body):
        """(status, body, headers) of the answer."""
        store = self.store
        if not key:
            return (200, self.listed(parameters))
        if "uploads" in parameters:
            upload = f"upload{len(store.requests)}"
            store.uploads[upload] = {}
            return (200, f"<InitiateMultipartUploadResult><UploadId>{upload}</UploadId>"
                         "</InitiateMultipartUploadResult>".encode())
        if "uploadId" in parameters:
            return self.part(key, parameters, body)
        if self.command == "PUT":
            time.sleep(store.put_seconds)
            store.put(key, body)
            return (200,)
        if self.command == "DELETE":
            store.stored.pop(key, None)
            return (204,)
        if key not in store.stored:
            raise Refusal(404, "NoSuchKey")
        return self.ranged(store.stored[key][0])

    def part(self, key, parameters, body):
        uploads, upload = self.store.uploads, parameters["uploadId"]
        if upload not in uploads:
            raise Refusal(404, "NoSuchUpload")
        if self.command == "PUT":
            uploads[upload][int(parameters["partNumber"])] = body
            return (200, b"", {"ETag": f'"{hashlib.md5(body).hexdigest()}"'})
        parts = uploads.pop(upload)
        if self.command == "DELETE":
            return (204,)
        for number, content in parts.items():
            if len(content) < 5 << 20 and number != max(parts):
                raise Refusal(400, "EntityTooSmall")
            tag = f"<PartNumber>{number}</PartNumber><ETag>\"{hashlib.md5(content).hexdigest()}\"</ETag>"
            if tag not in body.decode().replace("&quot;", '"'):
                raise Refusal(400, "InvalidPart")
        self.store.put(key, b"".join(parts[number] for number in sorted(parts)))
        return (200, b"<CompleteMultipartUploadResult/>")

    def ranged(self, content):
        wanted = self.headers.get("Range")
        if not wanted:
            return (200, content)
        begin, last = map(int, re.fullmatch(r"bytes=(\d+)-(\d+)", wanted).groups())
        if begin >= len(content):
            raise Refusal(416, "InvalidRange")
        last = min(last, len(content) - 1)
        return (206, content[begin:last + 1], {"Content-Range": f"bytes {begin}-{last}/{len(content)}"})

    def listed(self, parameters):
        if "uploads" in parameters:
            return b"<ListMultipartUploadsResult><IsTruncated>false</IsTruncated></ListMultipartUploadsResult>"
        prefix, after = parameters["prefix"], parameters.get("continuation-token", "")
        keys = [key for key in sorted(self.store.stored) if key.startswith(prefix) and key > after and
                ("delimiter" not in parameters or "/" not in key[len(prefix):])]
        page = keys[:100]
        xml = "".join(
            f"<Contents><Key>{xml_text(key)}</Key><Size>{len(self.store.stored[key][0])}</Size><LastModified>"
            f"{time.strftime('%Y-%m-%dT%H:%M:%S.000Z', time.gmtime(self.store.stored[key][1]))}</LastModified>"
            "</Contents>" for key in page)
        more = len(keys) > len(page)
        xml += f"<IsTruncated>{str(more).lower()}</IsTruncated>"
        xml += f"<NextContinuationToken>{xml_text(page[-1])}</NextContinuationToken>" if more else ""
        return f"<ListBucketResult>{xml}</ListBucketResult>".encode()


xml_text = xml.sax.saxutils.escape
