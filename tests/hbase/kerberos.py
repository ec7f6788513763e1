"""A Kerberos realm of its own, and certificates: what a secure cluster needs. Everything is in one folder, listens on
127.0.0.1, and ends with the process that started it.

    with Realm(folder) as realm:
        realm.keytab("hbase/localhost")     # makes the principal; the path of its keytab
        realm.environment                   # KRB5_CONFIG and a credentials cache, for child processes
"""

import os
import shutil
import socket
import subprocess
import time

from cluster import JavaServer, free_ports
from jars import Trouble

REALM = "HALITE.TEST"
START_SECONDS = 30
PATH = "/usr/sbin:/sbin:/usr/bin:/bin"  # krb5kdc and kdb5_util are not in everybody's path

_KRB5_CONF = """[libdefaults]
 default_realm = {realm}
 dns_lookup_kdc = false
 dns_lookup_realm = false
 dns_canonicalize_hostname = false
 rdns = false
 udp_preference_limit = 1
 {more}
[realms]
 {realm} = {{
  kdc = 127.0.0.1:{port}
 }}
[domain_realm]
 localhost = {realm}
"""
_KDC_CONF = """[kdcdefaults]
 kdc_listen = 127.0.0.1:{port}
 kdc_tcp_listen = 127.0.0.1:{port}
[realms]
 {realm} = {{
  database_name = {folder}/principal
  key_stash_file = {folder}/stash
  acl_file = {folder}/acl
  max_life = 10h
 }}
[logging]
 kdc = FILE:{folder}/kdc.log
"""


class Realm:
    def __init__(self, folder):
        self.folder = os.path.join(folder, "kdc")
        self._kdc = None
        self.environment = {"KRB5_CONFIG": os.path.join(self.folder, "krb5.conf"),
                            "KRB5_KDC_PROFILE": os.path.join(self.folder, "kdc.conf"),
                            "KRB5CCNAME": "FILE:" + os.path.join(self.folder, "cache")}

    def __enter__(self):
        os.makedirs(self.folder)
        self.port = free_ports(1)[0]
        self._write("krb5.conf", _KRB5_CONF, more="")
        self._write("kdc.conf", _KDC_CONF)
        self._run("kdb5_util", "create", "-s", "-P", "secret", "-r", REALM)
        self.start()
        return self

    def __exit__(self, *_):
        self.stop()

    def start(self):
        environment = {**os.environ, **self.environment}
        program = shutil.which("krb5kdc", path=PATH)
        if program is None:
            raise Trouble("krb5kdc is not installed: ./dev test-hbase installs krb5-kdc")
        command = ["env", *(f"{name}={environment[name]}" for name in self.environment), program, "-n"]
        self._kdc = JavaServer("kdc", command, os.path.join(self.folder, "out.log"))
        end = time.monotonic() + START_SECONDS
        while time.monotonic() < end and self._kdc.running():
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", self.port)) == 0:
                    return
            time.sleep(0.05)
        raise Trouble(f"the KDC did not start:\n{self._kdc.log_tail()}")

    def stop(self):
        if self._kdc is not None:
            self._kdc.kill()

    def config(self, name, more):
        """One more krb5.conf, with more lines in [libdefaults]; its path."""
        return self._write(name, _KRB5_CONF, more=more)

    def principal(self, name, *options):
        self._kadmin("addprinc", "-randkey", *options, name)

    def forget(self, name):
        self._kadmin("delprinc", "-force", name)

    def keytab(self, principal, file=None):
        """Of a new key, which makes older keytabs of the principal useless."""
        path = os.path.join(self.folder, file or principal.replace("/", "-") + ".keytab")
        self._kadmin("ktadd", "-k", path, principal)
        return path

    def log_in(self, keytab, principal, *options):
        """Fills the credentials cache of `environment`."""
        self._run("kinit", *options, "-kt", keytab, principal)

    def tickets_given(self, principal):
        """How often the KDC has answered a login of this principal."""
        with open(os.path.join(self.folder, "kdc.log"), encoding="utf-8") as log:
            return sum("AS_REQ" in line and "ISSUE:" in line and f" {principal}@" in line for line in log)

    def _write(self, name, template, **more):
        path = os.path.join(self.folder, name)
        with open(path, "w", encoding="utf-8") as out:
            out.write(template.format(realm=REALM, port=self.port, folder=self.folder, **more))
        return path

    def _kadmin(self, *words):
        self._run("kadmin.local", "-r", REALM, "-q", " ".join(words))

    def _run(self, program, *arguments):
        path = shutil.which(program, path=PATH)
        if path is None:
            raise Trouble(f"{program} is not installed: ./dev test-hbase installs Kerberos")
        done = subprocess.run([path, *arguments], env={**os.environ, **self.environment}, stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, check=False, timeout=60)
        # kadmin.local ends with 0 also where it fails.
        if done.returncode != 0 or "while" in done.stderr:
            raise Trouble(f"{program} {' '.join(arguments)}: {done.stdout}{done.stderr}")


def kerberos_properties(keytab, protection):
    """Of hbase-site.xml: servers with the principal hbase/localhost."""
    properties = {"hbase.security.authentication": "kerberos", "hadoop.security.authentication": "kerberos",
                  "hbase.rpc.protection": protection}
    for role in ("master", "regionserver"):
        properties[f"hbase.{role}.kerberos.principal"] = f"hbase/localhost@{REALM}"
        properties[f"hbase.{role}.keytab.file"] = keytab
    return properties


class Certificates:
    """A certificate authority, and what it signs. `names`: "DNS:localhost"."""

    PASSWORD = "secret"

    def __init__(self, folder):
        self.folder = os.path.join(folder, "certificates")
        os.makedirs(self.folder)
        self.authority()

    def authority(self, name="ca"):
        """Its certificate."""
        self._openssl("req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", f"/CN={name}",
                      "-keyout", self._path(f"{name}.key"), "-out", self._path(f"{name}.pem"))
        return self._path(f"{name}.pem")

    def certificate(self, name, names="DNS:localhost", authority="ca"):
        """(certificate, key)"""
        request, extensions = self._path(f"{name}.csr"), self._path(f"{name}.ext")
        self._openssl("req", "-newkey", "rsa:2048", "-nodes", "-subj", f"/CN={name}",
                      "-keyout", self._path(f"{name}.key"), "-out", request)
        with open(extensions, "w", encoding="utf-8") as out:
            out.write(f"subjectAltName = {names}\n")
        self._openssl("x509", "-req", "-in", request, "-CA", self._path(f"{authority}.pem"),
                      "-CAkey", self._path(f"{authority}.key"), "-CAcreateserial", "-days", "2",
                      "-extfile", extensions, "-out", self._path(f"{name}.pem"))
        return self._path(f"{name}.pem"), self._path(f"{name}.key")

    def key_store(self, name):
        """A PKCS12 file for Java."""
        path = self._path(f"{name}.p12")
        self._openssl("pkcs12", "-export", "-in", self._path(f"{name}.pem"), "-inkey", self._path(f"{name}.key"),
                      "-name", name, "-out", path, "-passout", f"pass:{self.PASSWORD}")
        return path

    def trust_store(self, authority="ca"):
        path = self._path(f"{authority}-trust.p12")
        self._run("keytool", "-importcert", "-noprompt", "-alias", authority, "-file", self._path(f"{authority}.pem"),
                  "-keystore", path, "-storetype", "PKCS12", "-storepass", self.PASSWORD)
        return path

    def properties(self, name):
        """Of hbase-site.xml: TLS with the certificate of that name, for servers and Java's clients."""
        properties = {"hbase.server.netty.tls.enabled": "true", "hbase.client.netty.tls.enabled": "true"}
        for kind, path in (("keystore", self.key_store(name)), ("truststore", self.trust_store())):
            properties[f"hbase.rpc.tls.{kind}.location"] = path
            properties[f"hbase.rpc.tls.{kind}.type"] = "PKCS12"
            properties[f"hbase.rpc.tls.{kind}.password"] = self.PASSWORD
        return properties

    def _path(self, name):
        return os.path.join(self.folder, name)

    def _openssl(self, *arguments):
        self._run("openssl", *arguments)

    @staticmethod
    def _run(*command):
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise Trouble(f"{' '.join(command)}: {done.stdout}{done.stderr}")
