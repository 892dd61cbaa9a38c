# SPDX-License-Identifier: BSD-3-Clause
"""Drives ParaView's window in a test: opens files, clicks, types, and reads what the window shows.

A test is a Python file with functions of one argument, a Window, that ends with

    if __name__ == "__main__":
        gui_testing.launch(__file__, ["first", "second"], sys.argv[1:])

Run in pvpython, that starts a ParaView with a fresh home, the plugin of $PMB_PLUGIN (else of
$PV_PLUGIN_CONFIG_FILE) and the display of $DISPLAY; in it the file is imported as a module and the named functions run
one after another, each in a fresh session. All of this happens in ParaView's main thread. A
function fails by an exception, by an error or warning of ParaView, VTK or Qt that it did not take by
Window.take_messages(), and by a dialog that it did not expect. A picture of the window is left for each failure.
"""
import importlib.util
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback

from plugin_testing import SKIPPED, plugin_list

HERE = os.path.dirname(os.path.abspath(__file__))
LIMIT = 1400  # seconds until ParaView is ended: less than ctest's
SIZE = (900, 600)  # of the window in pixels: small, because the CPU draws it


def in_paraview():
    return "PMB_GUI_FOLDER" in os.environ


if in_paraview():
    with open("/proc/self/maps", encoding="utf-8") as maps:
        QT = "PyQt6" if "libQt6Core" in maps.read() else "PyQt5"  # of ParaView 5.13 and later, or of earlier versions
    try:
        QtCore, QtGui, QtTest, QtWidgets = (importlib.import_module(f"{QT}.{name}")
                                            for name in ("QtCore", "QtGui", "QtTest", "QtWidgets"))
    except ImportError as error:
        os.write(1, f"skipped: {error}; fix: apt-get install python3-{QT.lower()}\n".encode())
        os._exit(SKIPPED)
    QAction = QtWidgets.QAction if QT == "PyQt5" else QtGui.QAction


# Messages that do not concern the plugin.
NOT_OURS = (
    "QXcbConnection: XCB error",  # without a window manager the X server refuses the focus now and then
    # The file dialog of ParaView 5.13 names a signal that Qt 6 lacks, in two messages.
    "No such signal QComboBox::activated(const QString&) in ./Qt/Core/pqFileDialog.cxx",
    "QObject::connect:  (sender name:   'Parents')",
    # Qt 6.11 reports that ParaView 6.1 disconnects its timers from everything, and connects its settings to no signal.
    "wildcard call disconnects from destroyed signal of pqTimer",
    "QObject::connect(pqSettingsDialog, pqSettingsDialog): signal not found",
)


# --- outside of ParaView: starts it ----------------------------------------------------------------------------------

def environment(home):
    """The environment for ParaView, without access to the user's settings."""
    runtime = os.path.join(home, "run")
    os.mkdir(runtime, 0o700)
    result = {name: value for name, value in os.environ.items() if not name.startswith("QT_")}
    result.update(HOME=home, XDG_CONFIG_HOME=os.path.join(home, "config"), XDG_CACHE_HOME=os.path.join(home, "cache"),
                  XDG_RUNTIME_DIR=runtime, LC_ALL="C.UTF-8", QT_QPA_PLATFORM="xcb", PMB_GPU="off",
                  PYTHONDONTWRITEBYTECODE="1")
    if os.environ.get("PMB_PLUGIN"):
        result["PV_PLUGIN_CONFIG_FILE"] = plugin_list(home)
    return result


def missing():
    """Why ParaView's window cannot be driven here, or None."""
    if not os.environ.get("DISPLAY"):
        return "there is no display; fix: xvfb-run, or ./pmb"
    if not shutil.which("paraview"):
        return "there is no program paraview on PATH"
    if any(importlib.util.find_spec(binding) for binding in ("PyQt5", "PyQt6")):
        return None
    return "Python has neither PyQt5 nor PyQt6; fix: apt-get install python3-pyqt5, or python3-pyqt6 for ParaView 5.13"


# ParaView's first script: after an exception ParaView would wait for its user.
START = """import os, sys, traceback
sys.path[:0] = {folders!r}
try:
    import gui_testing
    gui_testing.begin({module!r}, {names!r})
except BaseException:
    os.write(1, traceback.format_exc().encode())
    os._exit(1)
"""


def launch(script, names, arguments=()):
    """Runs functions of a script in a separate ParaView and ends this process: 0 all passed, 1 not, 77 skipped.
    arguments: the folder for pictures (default: out/ in the current folder), then names of functions, to run those
    alone."""
    folder = os.path.abspath(arguments[0] if arguments else "out")
    os.makedirs(folder, exist_ok=True)
    why = missing()
    if why:
        print(f"skipped: {why}")
        sys.exit(SKIPPED)
    with tempfile.TemporaryDirectory() as home:
        start = os.path.join(home, "start.py")
        with open(start, "w", encoding="utf-8") as stream:
            stream.write(START.format(folders=[HERE, os.path.dirname(os.path.abspath(script))],
                                      module=os.path.splitext(os.path.basename(script))[0],
                                      names=list(arguments[1:]) or list(names)))
        code = run_paraview(start, {**environment(home), "PMB_GUI_FOLDER": folder}, home)
    sys.stdout.flush()
    sys.exit(code)


def run_paraview(script, variables, home):
    """Returns the exit code: 0 only if all functions passed and ParaView ended by itself after the last; 77 if ParaView
    lacks a feature that the test needs."""
    log = os.path.join(home, "log")
    with open(log, "w", encoding="utf-8") as stream:
        process = subprocess.Popen(["paraview", "--dr", "--no-mpi", f"--script={script}"], env=variables, stdout=stream,
                                   stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, start_new_session=True)
        try:
            code = process.wait(LIMIT)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            code = None
    with open(log, encoding="utf-8", errors="replace") as stream:
        text = stream.read()
    print(text)
    if code == SKIPPED:
        return code
    if code is None:
        print(f"FAILED: ParaView was still busy after {LIMIT} s; the last line above says with what")
    elif code or "ALL PASSED" not in text:
        print(f"FAILED: ParaView ended with code {code}")
    return 0 if code == 0 and "ALL PASSED" in text else 1


# --- inside ParaView -------------------------------------------------------------------------------------------------

def say(text):
    """Prints to the standard output of the process: Python's own goes to ParaView's message window."""
    os.write(1, f"{text}\n".encode())


def begin(module, names):
    """Runs the functions as soon as ParaView waits for its user."""
    def run():
        try:
            passed = run_functions(importlib.import_module(module), names)
            say("ALL PASSED" if passed else f"FAILED; pictures are in {os.environ['PMB_GUI_FOLDER']}")
        except BaseException:  # Qt ends the process at an exception in a slot, without a traceback
            say(traceback.format_exc())
            passed = False
        if not passed:
            os._exit(1)
        # Exits as a user does, to find crashes at the end.
        QtCore.QTimer.singleShot(0, Window.instance.main.close)

    QtCore.QTimer.singleShot(0, run)


def run_functions(module, names):
    window = Window(os.environ["PMB_GUI_FOLDER"])
    failed = []
    for name in names:
        started = time.monotonic()
        say(f"start: {name}")
        try:
            window.new_session()
            getattr(module, name)(window)
            window.settle()
            window.check_quiet()
        except Exception:
            failed.append(name)
            window.picture(f"failed_{name}.png")
            say(f"FAILED: {name}: {traceback.format_exc()}")
            for message in window.take_messages():
                say(f"  message: {message}")
        else:
            say(f"passed: {name}, {time.monotonic() - started:.1f} s")
    say(f"{len(names) - len(failed)} passed, {len(failed)} failed")
    return bool(names) and not failed


class Window:
    """ParaView's main window. Not reentrant: one caller, in the main thread."""
    instance = None

    def __init__(self, folder):
        Window.instance = self
        self.folder = folder
        self.app = QtWidgets.QApplication.instance()
        self.main = next(widget for widget in self.app.topLevelWidgets()
                         if isinstance(widget, QtWidgets.QMainWindow) and widget.objectName() == "pqClientMainWindow")
        self.main.resize(*SIZE)
        self.messages = []
        self.listen()
        self.answers = []  # functions, each for one dialog that is still to come
        self.dialog, self.dialog_since = None, 0.0
        self.timer = QtCore.QTimer()
        self.timer.timeout.connect(self.look_for_dialog)
        self.timer.start(50)

    # Messages.

    def listen(self):
        """ParaView's message window gets the messages of VTK, ParaView, Qt and Python."""
        from vtkmodules.vtkCommonCore import vtkOutputWindow

        def hear(_window, event, text):
            if text.strip() and not any(other in text for other in NOT_OURS):
                self.messages.append(f"{event.replace('Event', '')}: {text.strip()}")

        hear.CallDataType = "string0"
        output = vtkOutputWindow.GetInstance()
        for event in ("ErrorEvent", "WarningEvent"):
            output.AddObserver(event, hear)

    def take_messages(self):
        """The errors and warnings since the last call. A test that expects some must call it."""
        result, self.messages = self.messages, []
        return result

    def check_quiet(self):
        messages = self.take_messages()
        if messages:
            raise AssertionError("ParaView said: " + "; ".join(messages))

    # Time.

    def pump(self, seconds=0.0):
        """Lets ParaView work for a while."""
        end = time.monotonic() + seconds
        while True:
            self.app.processEvents(QtCore.QEventLoop.ProcessEventsFlag.AllEvents, 20)
            if time.monotonic() >= end:
                return
            time.sleep(0.005)

    def wait(self, condition, what, seconds=600.0):
        """Lets ParaView work until a function returns something true; returns that."""
        end = time.monotonic() + seconds
        while True:
            self.pump()
            result = condition()
            if result:
                return result
            if time.monotonic() > end:
                raise AssertionError(f"waited {seconds:g} s for {what}")
            time.sleep(0.01)

    def settle(self):
        """Lets ParaView do delayed work, such as rendering."""
        self.pump(0.1)

    # Dialogs run an event loop inside the call that opened them: a timer answers.

    def look_for_dialog(self):
        try:
            dialog = self.app.activeModalWidget()
            if dialog is None:
                self.dialog = None
            elif dialog is not self.dialog:
                self.dialog, self.dialog_since = dialog, time.monotonic()
                if self.answers:
                    self.answers.pop(0)(dialog)
                else:
                    self.refuse("a dialog that nothing asked for")
            elif time.monotonic() - self.dialog_since > 200.0:
                self.dialog_since = time.monotonic()
                self.refuse("a dialog that did not take the answer")
        except Exception as error:
            self.messages.append(f"in a dialog: {type(error).__name__}: {error}")

    def refuse(self, why):
        dialog = self.dialog
        texts = [label.text() for label in dialog.findChildren(QtWidgets.QLabel) if label.text()]
        self.messages.append(f"{why}: {dialog.objectName() or type(dialog).__name__} '{dialog.windowTitle()}': {texts}")
        dialog.grab().save(os.path.join(self.folder, "failed_dialog.png"))
        dialog.close()

    def trigger(self, name, *answers):
        """Triggers the main window's action of this name; answers: functions of one argument, for the dialogs that
        come up before it is done, in order. Returns when they are closed."""
        action = self.main.findChild(QAction, name)
        if action is None or not action.isEnabled():
            raise AssertionError(f"the action {name} {'does not exist' if action is None else 'is greyed out'}")
        self.answers = list(answers)
        action.trigger()
        self.settle()
        left, self.answers = self.answers, []
        if left:
            raise AssertionError(f"the action {name} opened fewer dialogs than expected, by {len(left)}")

    def choose_file(self, path):
        """An answer to ParaView's file dialog."""
        def answer(dialog):
            field = dialog.findChild(QtWidgets.QLineEdit, "EntityName") or \
                dialog.findChild(QtWidgets.QLineEdit, "FileName")
            field.setText(path)
            dialog.findChild(QtWidgets.QPushButton, "OK").click()
        return answer

    @staticmethod
    def press(*texts):
        """An answer to a question: the first button with one of these texts."""
        def answer(dialog):
            buttons = {button.text().replace("&", ""): button
                       for button in dialog.findChildren(QtWidgets.QAbstractButton) if button.isVisible()}
            for text in texts:
                if text in buttons:
                    buttons[text].click()
                    return
            raise AssertionError(f"a dialog has no button {texts}, but {sorted(buttons)}")
        return answer

    # The session.

    def new_session(self):
        """Empties the pipeline, like Edit > Reset Session."""
        from paraview import simple
        if simple.GetSources():
            self.trigger("actionDelete_All", self.press("Yes"))
        self.settle()
        self.take_messages()
        if simple.GetSources():
            raise AssertionError(f"Reset Session left {sorted(simple.GetSources())}")

    def open(self, path):
        """File > Open, and Apply."""
        self.trigger("actionFileOpen", self.choose_file(os.path.abspath(path)))
        self.apply()

    def active(self):
        """The active source or filter, as a proxy of paraview.simple."""
        from paraview import simple
        return simple.GetActiveSource()

    def menu(self, *titles):
        """The entries of a menu by their text, as the user sees them: menu("Filters", "Alphabetical")."""
        bar = self.main.menuBar()
        for title in titles:
            action = next(action for action in bar.actions() if action.text().replace("&", "") == title)
            bar = action.menu()
            bar.aboutToShow.emit()
        self.settle()
        return {action.text().replace("&", ""): action for action in bar.actions() if action.text()}

    def add_filter(self, *path):
        """A filter by its place in the menu, the last of path being its text; not yet applied. Returns its proxy."""
        before = self.active()
        action = self.menu(*path[:-1]).get(path[-1])
        if action is None or not action.isEnabled():
            raise AssertionError(f"{' > '.join(path)} is {'not there' if action is None else 'greyed out'}")
        action.trigger()
        self.settle()
        if self.active() == before:
            raise AssertionError(f"{' > '.join(path)} made no filter")
        return self.active()

    def picture(self, name, widget=None, part=None):
        """Saves what a widget (default: the main window), or a rectangle of it, shows; returns the path."""
        self.settle()
        path = os.path.join(self.folder, name)
        widget = widget or self.main
        image = widget.grab(part or widget.rect()).toImage()
        image = image.convertToFormat(QtGui.QImage.Format.Format_RGB666)  # finer shades are noise and enlarge the file
        if not image.save(path, "PNG", 0):  # 0: the smallest file
            raise AssertionError(f"cannot write {path}")
        return path

    # The Properties panel.

    def child(self, kind, name, parent=None):
        result = (parent or self.main).findChild(kind, name)
        if result is None:
            raise AssertionError(f"there is no {kind.__name__} '{name}'")
        return result

    def panel(self):
        return self.child(QtWidgets.QWidget, "propertiesPanel")

    def button(self, name):
        """A button of the panel: Accept (Apply), Reset, Delete, AdvancedButton, PropertiesRestoreDefaults, ..."""
        return self.child(QtWidgets.QAbstractButton, name, self.panel())

    def click(self, name):
        button = self.button(name)
        if not button.isEnabled():
            raise AssertionError(f"the button {name} is greyed out")
        button.click()
        self.settle()

    def apply(self):
        """Presses Apply, if it can be pressed, and waits until the active filter has executed. Returns whether it
        could be."""
        accept = self.button("Accept")
        if not accept.isEnabled():
            return False
        accept.click()
        self.wait_for_output()
        return True

    def wait_for_output(self):
        """Waits until the active filter's output is newer than its settings."""
        self.settle()
        proxy = self.active()
        algorithm = proxy.GetClientSideObject() if proxy is not None else None
        if algorithm is not None and hasattr(algorithm, "GetOutputDataObject"):
            self.wait(lambda: algorithm.GetOutputDataObject(0) is not None and
                      algorithm.GetOutputDataObject(0).GetUpdateTime() >= algorithm.GetMTime(),
                      "the filter to execute")

    def advanced(self, shown):
        """Shows or hides the advanced properties."""
        button = self.button("AdvancedButton")
        if button.isChecked() != shown:
            button.click()
        self.settle()

    def widgets(self):
        """The panel's widgets for the active filter, {name of the property: widget}; hidden ones are among them."""
        frame = self.child(QtWidgets.QWidget, "PropertiesFrame", self.panel())
        proxy = next((widget for widget in frame.findChildren(QtWidgets.QWidget)
                      if widget.metaObject().className() == "pqProxyWidget" and widget.isVisible()), None)
        if proxy is None:
            raise AssertionError("the panel shows no filter")
        properties = self.active().SMProxy
        return {widget.objectName(): widget for widget in proxy.findChildren(QtWidgets.QWidget)
                if inherits(widget, "pqPropertyWidget") and properties.GetProperty(widget.objectName())}

    def set_value(self, name, value):
        """Gives a property's check box, list of choices (a number: the choice's place; or its text) or line a value."""
        widget = self.widgets()[name]
        if not (widget.isVisible() and widget.isEnabled()):
            raise AssertionError(f"the panel {'greys out' if widget.isVisible() else 'does not show'} {name}")
        for kind, setter in ((QtWidgets.QCheckBox, self.set_box), (QtWidgets.QComboBox, self.set_choice),
                             (QtWidgets.QLineEdit, self.type_text)):
            field = widget.findChild(kind)
            if field is not None:
                setter(field, value)
                self.settle()
                return
        raise AssertionError(f"{name} has no editor of a kind that this driver knows")

    @staticmethod
    def set_box(box, value):
        if box.isChecked() != bool(value):
            box.click()

    @staticmethod
    def set_choice(choices, value):
        place = choices.findText(value) if isinstance(value, str) else value
        if not 0 <= place < choices.count():
            raise AssertionError(f"there is no choice {value!r}, but "
                                 f"{[choices.itemText(index) for index in range(choices.count())]}")
        choices.setCurrentIndex(place)

    def set_isovalue(self, row, value):
        """Types into the table of isovalues."""
        self.type_cell(self.widgets()["ContourValues"].findChild(QtWidgets.QTableView), row, value)

    def last_run(self):
        """The text of the panel's line Last Run."""
        widget = self.widgets()["LastRunSummary"]
        edit = widget.findChild(QtWidgets.QTextEdit)  # ParaView's own widget, if the plugin was built without its panel
        return edit.toPlainText() if edit else widget.findChild(QtWidgets.QLabel).text()

    def type_text(self, field, text):
        """Replaces the text of a line, key by key."""
        field.setFocus()
        field.selectAll()
        QtTest.QTest.keyClicks(field, str(text))
        QtTest.QTest.keyClick(field, QtCore.Qt.Key.Key_Return)
        self.settle()

    def type_cell(self, view, row, text):
        """Opens the editor of the first cell of a row of a table, as a double click does, and types. No event comes
        in between: the editor closes when another window takes the keyboard."""
        index = view.model().index(row, 0)
        view.setCurrentIndex(index)
        view.edit(index)
        self.type_text(self.child(QtWidgets.QLineEdit, "", view.viewport()), text)


def inherits(widget, name):
    """Whether an object has a C++ class, even if Python does not know that class."""
    meta = widget.metaObject()
    while meta is not None:
        if meta.className() == name:
            return True
        meta = meta.superClass()
    return False
