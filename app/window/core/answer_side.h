#pragma once

// The right side of every tab of this page: a headline with a line below it, then the answer under a veil.

#include "base/diagnostic.h"

#include <QString>

class QHBoxLayout;
class QProgressBar;
class QPushButton;
class QSplitter;
class QVBoxLayout;
class QWidget;

namespace orrery::ui {
class Label;
class Veil;
}  // namespace orrery::ui

namespace orrery::app {

class AnswerSide {
public:
    /// Its controls are named `id`.headline, `id`.sub and so on.
    AnswerSide(QWidget* parent, QString id, const QString& headlineBefore);
    /// Beside the headline: a bar that fills to `whole` (0: it only moves) and the button that stops the run.
    void addRun(const QString& name, const QString& tip, int whole);
    QSplitter* addPanes(const QString& name);
    /// Below all that was added so far, once the panes are there: the first takes what room there is.
    void finish(QSplitter* panes);

    QWidget* widget;
    QVBoxLayout* column;
    QHBoxLayout* head;
    ui::Label *headline, *sub;
    QProgressBar* progress = nullptr;
    QPushButton* cancel = nullptr;
    ui::Veil* veil = nullptr;

private:
    QString id_;
};

/// What is wrong, what was expected and the hint, each a sentence.
QString refusalText(const Diagnostic& why);

}  // namespace orrery::app
