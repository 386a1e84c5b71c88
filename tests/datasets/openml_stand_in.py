"""A stand-in of OpenML's server on this machine: what scikit-learn asks for, answered over HTTP."""

import hashlib
import json
import threading
from contextlib import AbstractContextManager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlparse
from urllib.request import Request, urlopen

from pandas.api.types import is_numeric_dtype


class OpenMLStandIn(AbstractContextManager):
    """Answers by path; `asked` has the paths in order. What it does not have gets OpenML's status 412."""

    def __init__(self):
        self.asked, self.answers = [], {}
        stand_in = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self):
                stand_in.asked.append(self.path)
                body = stand_in.answers.get(self.path)
                self.send_response(412 if body is None else 200)
                self.end_headers()
                self.wfile.write(b"{}" if body is None else body)

            def log_message(self, *args):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.thread = threading.Thread(target=self.server.serve_forever, args=(0.01,), daemon=True)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *error):
        self.server.shutdown()
        self.server.server_close()
        self.thread.join()

    def open(self, request):
        """`urlopen`, of this server whatever the host of the request is."""
        path = urlparse(request.full_url).path
        return urlopen(Request(f"http://127.0.0.1:{self.server.server_port}{path}"), timeout=10)

    def offer(self, data_id, name, table, target):
        """Have a data set: a column of numbers is numeric, any other nominal."""
        arff = _arff(name, table)
        described = {
            "id": str(data_id),
            "name": name,
            "version": "1",
            "format": "ARFF",
            "status": "active",
            "file_id": "7",
            "url": f"https://www.openml.org/data/v1/download/{data_id}/{name}.arff",
            "default_target_attribute": target,
            "md5_checksum": hashlib.md5(arff).hexdigest(),
            "description": "",
        }
        features = [
            {
                "index": str(j),
                "name": column,
                "data_type": "numeric" if is_numeric_dtype(table[column]) else "nominal",
                "nominal_value": [] if is_numeric_dtype(table[column]) else sorted(set(table[column])),
                "is_target": str(column == target).lower(),
                "is_ignore": "false",
                "is_row_identifier": "false",
                "number_of_missing_values": str(int(table[column].isna().sum())),
            }
            for j, column in enumerate(table.columns)
        ]
        quality = [{"name": "NumberOfInstances", "value": str(float(len(table)))}]
        root = "/api/v1/json/data"
        self.answers |= {
            f"{root}/{data_id}": _json({"data_set_description": described}),
            f"{root}/features/{data_id}": _json({"data_features": {"feature": features}}),
            f"{root}/qualities/{data_id}": _json({"data_qualities": {"quality": quality}}),
            f"/data/v1/download/{data_id}/{name}.arff": arff,
        }


def _json(content):
    return json.dumps(content).encode()


def _arff(name, table):
    lines = [f"@RELATION {name}"]
    for column in table.columns:
        kind = "REAL" if is_numeric_dtype(table[column]) else "{" + ",".join(sorted(set(table[column]))) + "}"
        lines.append(f"@ATTRIBUTE {column} {kind}")
    rows = table.to_csv(index=False, header=False, na_rep="?")
    return ("\n".join([*lines, "@DATA"]) + "\n" + rows).encode()
