#pragma once

// The studio without a person: it opens what the command line says, waits for the answer, writes, and ends.

#include "app/window/command_line.h"

#include <QElapsedTimer>
#include <QObject>
#include <QTimer>

namespace orrery::app {

class MainWindow;

class Unattended : public QObject {
    Q_OBJECT
public:
    Unattended(MainWindow& window, CommandLine line, QObject* parent = nullptr);
    void start();

signals:
    void ended(int status);

private:
    void check();
    void finish();

    MainWindow& window_;
    CommandLine line_;
    QTimer poll_;
    QElapsedTimer since_;
    int calm_ = 0;  ///< polls in a row in which everything stood still
};

/// Opens what was asked for: the example, then the files.
void openRequested(MainWindow& window, const CommandLine& line);
/// The layout that was asked for; a page in front that fills the window still does.
void arrangeRequested(MainWindow& window, Layout layout, bool asShipped = false);

}  // namespace orrery::app
