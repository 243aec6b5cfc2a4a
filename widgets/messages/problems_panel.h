#pragma once

#include "methods/method.h"
#include "widgets/messages/problems_model.h"

#include <QWidget>

class QListView;
class QToolButton;

namespace orrery::ui {

/// What is wrong and what to do about it. A click or Enter jumps to the place; Ctrl+C copies; the light bulb, the
/// context menu and Alt+Enter offer quick fixes.
class ProblemsPanel : public QWidget {
    Q_OBJECT
public:
    explicit ProblemsPanel(QWidget* parent = nullptr);
    void setDiagnostics(const Diagnostics& diagnostics);
    /// The design whose problems have fixes; those of files and answers have none.
    void setDesign(HardwarePtr design);
    QListView* list() const { return list_; }
    ProblemsModel* model() const { return model_; }
    QString selectedText() const;

signals:
    void jumpTo(const orrery::Place& place);
    /// The `fix`th of fixesFor(design, problem).
    void fixRequested(const orrery::Diagnostic& problem, int fix, const QString& title);
    void countsChanged(int errors, int warnings);  ///< for the dock's title

protected:
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    void refresh();
    void showMenu(const QModelIndex& index, const QPoint& global, bool fixesOnly);

    HardwarePtr design_;
    ProblemsModel* model_;
    QListView* list_;
    QToolButton* filters_[3];
    QWidget* empty_;
};

}  // namespace orrery::ui
