"""File contents on their way between a connection and the disk."""

import os


def receive_file(files, connection, request):
    path, fd = files.open_for_writing(request["path"], request.get("user"))
    broken = []

    def write(data):
        view = memoryview(data)
        try:
            while view and not broken:
                view = view[os.write(fd, view) :]
        except OSError as error:
            broken.append(error)  # the rest is read all the same: an answer in the middle of a body may get lost

    def end():
        os.close(fd)
        if broken:
            connection.answer({"error": {"code": "resource_exhausted", "message": f"error writing file: {broken[0]}"}})
        else:
            connection.answer({"value": {"path": path, "name": os.path.basename(path), "type": "file"}})

    connection.on_body, connection.on_end = write, end


def send_file(files, connection, request):
    path, file, size = files.open_for_reading(request["path"], request.get("user"))
    connection.send_json({"value": {"path": path, "size": size}})
    connection.send_file(file, size)
    connection.finish()
