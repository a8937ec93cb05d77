"""Scripted servers, each in a thread. A server expects certain commands in a fixed order, and answers them."""

import contextlib
import http.server
import json
import socketserver
import threading
import urllib.parse


@contextlib.contextmanager
def serving(server):
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield server.server_address[1]
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


class Quiet(socketserver.ThreadingTCPServer):
    allow_reuse_address = True
    daemon_threads = True


def imap(mails):
    """An IMAP server with unread mails; `.seen` lists the UIDs of the mails that the client has marked as read."""

    class Talk(socketserver.StreamRequestHandler):
        def say(self, line):
            self.wfile.write(line if isinstance(line, bytes) else f"{line}\r\n".encode())

        def handle(self):
            self.say("* OK ready")
            for line in self.rfile:
                tag, command, *rest = line.decode().split()
                self.answer(" ".join([command, *rest]))
                self.say(f"{tag} OK done")

        def answer(self, command):
            if command == "CAPABILITY":
                self.say("* CAPABILITY IMAP4rev1")
            elif command.startswith("SELECT"):
                self.say(f"* {len(mails)} EXISTS")
            elif command == "UID SEARCH UNSEEN":
                self.say("* SEARCH " + " ".join(str(uid) for uid in mails if uid not in self.server.seen))
            elif command.startswith("UID FETCH"):
                uid = int(command.split()[2])
                assert command.endswith("(BODY.PEEK[])"), command
                self.say(b"* 1 FETCH (UID %d BODY[] {%d}\r\n%s)\r\n" % (uid, len(mails[uid]), mails[uid]))
            elif command.startswith("UID STORE"):
                assert command.endswith(r"+FLAGS (\Seen)"), command
                self.server.seen.append(int(command.split()[2]))

    server = Quiet(("127.0.0.1", 0), Talk)
    server.seen = []
    return server


def smtp():
    """An SMTP server without TLS that accepts every mail; `.taken` lists (recipients, bytes) of each mail."""

    class Talk(socketserver.StreamRequestHandler):
        def say(self, line):
            self.wfile.write(f"{line}\r\n".encode())

        def handle(self):
            recipients = []
            self.say("220 ready")
            for line in self.rfile:
                command = line.decode().strip().lower()
                if command.startswith("rcpt"):
                    recipients.append(command[len("rcpt to:<") :].split(">")[0])
                if command == "data":
                    self.say("354 go on")
                    self.server.taken.append((recipients, self.mail()))
                if command == "quit":
                    return self.say("221 bye")
                self.say("250 ok")

        def mail(self):
            return b"".join(iter(self.rfile.readline, b".\r\n"))

    server = Quiet(("127.0.0.1", 0), Talk)
    server.taken = []
    return server


def api(pages, token):
    """An HTTP API that returns pages of orders to clients that send the token; `.asked` lists the requested paths."""

    class Talk(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            self.server.asked.append(self.path)
            page = int(urllib.parse.parse_qs(urllib.parse.urlsplit(self.path).query)["page"][0])
            allowed = self.headers["Authorization"] == f"Bearer {token}"
            items = pages[page - 1] if page <= len(pages) else []
            body = json.dumps({"items": items} if allowed else {"error": "who are you"}).encode()
            self.send_response(200 if allowed else 401)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            """Keeps the server's log out of the test's output."""

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Talk)
    server.asked = []
    return server
