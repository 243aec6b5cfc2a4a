#pragma once

#include <QAction>
#include <QIcon>
#include <QKeySequence>
#include <QPointer>
#include <QWidget>

#include <functional>
#include <vector>

class QLineEdit;
class QListView;

namespace orrery::ui {

/// Something that the palette offers beside actions: a device, a model, an operator.
struct PaletteEntry {
    QString title;
    QString group;   ///< `Device`, `Model`, `Operator`; shown muted
    QString detail;  ///< second, muted text
    QIcon icon;
    std::function<void()> run;
};

class PaletteModel;

/// Ctrl+K: an overlay on top of its parent that finds commands and things by a few letters.
class CommandPalette : public QWidget {
    Q_OBJECT
public:
    using Provider = std::function<std::vector<PaletteEntry>()>;

    explicit CommandPalette(QWidget* parent);
    void setActions(const QList<QAction*>& actions);  ///< disabled and nameless ones are left out when it opens
    void setProvider(Provider provider);              ///< asked each time it opens
    void open();
    QLineEdit* line() const { return line_; }
    QListView* list() const { return list_; }

signals:
    void closed();

protected:
    void keyPressEvent(QKeyEvent* event) override;
    bool eventFilter(QObject* watched, QEvent* event) override;
    void paintEvent(QPaintEvent* event) override;

private:
    void place();
    void run(const QModelIndex& index);
    void dismiss();

    QList<QAction*> actions_;
    Provider provider_;
    PaletteModel* model_;
    QLineEdit* line_;
    QListView* list_;
    QPointer<QWidget> before_;
};

/// Score of `pattern` as a subsequence of `text`: higher is better, 0 is no match. Beginnings of words, runs and short
/// texts count for more. `hits` receives the matched positions.
int fuzzyScore(const QString& pattern, const QString& text, std::vector<int>* hits = nullptr);

}  // namespace orrery::ui
