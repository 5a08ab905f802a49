#!/usr/bin/env python3
"""Writes an archive, a wheel, a container image or a bill of materials from a built program.

Equal inputs give equal bytes: all files have the same time and owner. Does not build programs; see `cargo xtask release`.

    pack.py archive FOLDER NAME OUT_FILE
    pack.py wheel PROGRAM VERSION PLATFORM OUT_DIR
    pack.py image PROGRAM VERSION ARCHITECTURE OUT_FILE
    pack.py sbom METADATA.json OUT_FILE
"""

import base64
import gzip
import hashlib
import io
import json
import os
import re
import subprocess
import sys
import tarfile
import zipfile

SUMMARY = "What an Envoy-based gateway makes of your YAML, explained"
URL = "https://github.com/chancery-dev/chancery"


def digest(data):
    return "sha256:" + hashlib.sha256(data).hexdigest()


def archive(folder, name, out):
    """A folder as tar.gz, its files sorted."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as tar:
        paths = [os.path.join(folder, name)]
        for place, folders, files in os.walk(paths[0]):
            paths.extend(os.path.join(place, entry) for entry in folders + files)
        for path in sorted(paths):
            entry = tar.gettarinfo(path, os.path.relpath(path, folder).replace(os.sep, "/"))
            entry.uid = entry.gid = 0
            entry.uname = entry.gname = ""
            entry.mtime = 315532800
            entry.mode = 0o755 if entry.isdir() or entry.mode & 0o100 else 0o644
            if entry.isfile():
                with open(path, "rb") as data:
                    tar.addfile(entry, data)
            else:
                tar.addfile(entry)
    with open(out, "wb") as file:
        file.write(gzip.compress(packed.getvalue(), mtime=0))
    print(out)


def wheel(program, version, platform, out):
    """A wheel whose script is the program: `pip install` puts it on the PATH."""
    name = f"chancery-{version}"
    readme = open(os.path.join(os.path.dirname(__file__), "../../README.md"), encoding="utf-8").read()
    metadata = (
        f"Metadata-Version: 2.1\nName: chancery\nVersion: {version}\nSummary: {SUMMARY}\nHome-page: {URL}\n"
        f"License: Apache-2.0\nRequires-Python: >=3.7\nDescription-Content-Type: text/markdown\n\n{readme}"
    )
    tags = "\n".join(f"Tag: py3-none-{tag}" for tag in platform.split("."))
    script = "chancery.exe" if program.endswith(".exe") else "chancery"
    files = [
        (f"{name}.data/scripts/{script}", open(program, "rb").read(), 0o755),
        (f"{name}.dist-info/METADATA", metadata.encode(), 0o644),
        (f"{name}.dist-info/WHEEL", f"Wheel-Version: 1.0\nGenerator: chancery\nRoot-Is-Purelib: false\n{tags}\n".encode(), 0o644),
    ]
    record = ""
    for path, data, _ in files:
        checksum = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        record += f"{path},sha256={checksum},{len(data)}\n"
    record += f"{name}.dist-info/RECORD,,\n"
    files.append((f"{name}.dist-info/RECORD", record.encode(), 0o644))
    target = os.path.join(out, f"{name}-py3-none-{platform}.whl")
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, data, mode in files:
            entry = zipfile.ZipInfo(path, (1980, 1, 1, 0, 0, 0))
            entry.external_attr = (0o100000 | mode) << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, data)
    print(target)


def needed(program):
    """The shared libraries that a program needs."""
    text = subprocess.run(["readelf", "-d", program], capture_output=True, text=True, check=True).stdout
    return re.findall(r"\(NEEDED\).*\[(.+)\]", text)


def image(program, version, architecture, out):
    """An OCI layout as one archive: one layer with the program, which runs without root on an empty file system."""
    missing = needed(program)
    if missing:
        sys.exit(f"{program} needs {', '.join(missing)}, and the image has no libraries: build it for a musl target")
    layer = io.BytesIO()
    with tarfile.open(fileobj=layer, mode="w") as archive:
        entry = tarfile.TarInfo("chancery")
        entry.size, entry.mode = os.path.getsize(program), 0o755
        with open(program, "rb") as data:
            archive.addfile(entry, data)
    packed = gzip.compress(layer.getvalue(), mtime=0)
    config = {
        "architecture": architecture,
        "os": "linux",
        "created": "1980-01-01T00:00:00Z",
        "config": {
            "User": "65532:65532",
            "Entrypoint": ["/chancery"],
            "Labels": {"org.opencontainers.image.source": URL, "org.opencontainers.image.version": version},
        },
        "rootfs": {"type": "layers", "diff_ids": [digest(layer.getvalue())]},
        "history": [{"created_by": "cargo xtask release"}],
    }
    config = json.dumps(config, sort_keys=True).encode()
    kind = "application/vnd.oci.image"
    manifest = {
        "schemaVersion": 2,
        "mediaType": f"{kind}.manifest.v1+json",
        "config": {"mediaType": f"{kind}.config.v1+json", "digest": digest(config), "size": len(config)},
        "layers": [{"mediaType": f"{kind}.layer.v1.tar+gzip", "digest": digest(packed), "size": len(packed)}],
    }
    manifest = json.dumps(manifest, sort_keys=True).encode()
    index = {
        "schemaVersion": 2,
        "mediaType": f"{kind}.index.v1+json",
        "manifests": [
            {
                "mediaType": f"{kind}.manifest.v1+json",
                "digest": digest(manifest),
                "size": len(manifest),
                "platform": {"architecture": architecture, "os": "linux"},
                "annotations": {"org.opencontainers.image.ref.name": version},
            }
        ],
    }
    files = {"oci-layout": b'{"imageLayoutVersion": "1.0.0"}', "index.json": json.dumps(index, sort_keys=True).encode()}
    for blob in (config, packed, manifest):
        files["blobs/sha256/" + digest(blob).split(":")[1]] = blob
    with tarfile.open(out, "w") as archive:
        for path in sorted(files):
            entry = tarfile.TarInfo(path)
            entry.size, entry.mode = len(files[path]), 0o644
            archive.addfile(entry, io.BytesIO(files[path]))
    print(out)


def sbom(metadata, out):
    """A CycloneDX bill of materials: the crates that the program is built from."""
    data = json.load(open(metadata, encoding="utf-8"))
    packages = {package["id"]: package for package in data["packages"]}
    nodes = {node["id"]: node for node in data["resolve"]["nodes"]}
    root = next(package["id"] for package in data["packages"] if package["name"] == "chancery")
    seen, waiting = set(), [root]
    while waiting:
        here = waiting.pop()
        if here in seen:
            continue
        seen.add(here)
        for dependency in nodes[here]["deps"]:
            # Tests' dependencies are not part of the program.
            if any(kind["kind"] is None for kind in dependency["dep_kinds"]):
                waiting.append(dependency["pkg"])

    def reference(package):
        return f"pkg:cargo/{package['name']}@{package['version']}"

    def component(package):
        entry = {
            "type": "library",
            "bom-ref": reference(package),
            "name": package["name"],
            "version": package["version"],
            "purl": reference(package),
        }
        if package.get("license"):
            entry["licenses"] = [{"expression": package["license"].replace("/", " OR ")}]
        return entry

    parts = sorted((packages[here] for here in seen if here != root), key=lambda package: (package["name"], package["version"]))
    edges = []
    for here in sorted(seen, key=lambda here: reference(packages[here])):
        below = {reference(packages[of["pkg"]]) for of in nodes[here]["deps"] if of["pkg"] in seen}
        edges.append({"ref": reference(packages[here]), "dependsOn": sorted(below)})
    bill = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {"component": {**component(packages[root]), "type": "application"}},
        "components": [component(package) for package in parts],
        "dependencies": edges,
    }
    with open(out, "w", encoding="utf-8") as file:
        json.dump(bill, file, indent=1, sort_keys=True)
        file.write("\n")
    print(out)


if __name__ == "__main__":
    commands = {"archive": archive, "wheel": wheel, "image": image, "sbom": sbom}
    if len(sys.argv) < 2 or sys.argv[1] not in commands:
        sys.exit(__doc__)
    commands[sys.argv[1]](*sys.argv[2:])
