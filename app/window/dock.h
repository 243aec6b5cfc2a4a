#pragma once

#include <QDockWidget>

#include <functional>

class QMenu;
class QToolButton;

namespace orrery::ui {
class Label;
class ResultView;
}  // namespace orrery::ui

namespace orrery::app {

/// A dock whose content is made when it is first seen, under a small header with a menu: export and copy for result
/// views, float and close for all.
class Dock : public QDockWidget {
    Q_OBJECT
public:
    using Make = std::function<QWidget*(QWidget* parent)>;

    Dock(const QString& id, const QString& title, const QString& meaning, Make make, QWidget* parent);

    QWidget* content();  ///< makes it if needed
    bool isMade() const { return made_; }
    ui::ResultView* view();  ///< null if it is not a result view
    /// While docks are arranged nothing is made; then what is seen: of those behind a tab nobody looks at the content.
    void hold(bool held);
    void refreshHeader();                    ///< to be called when it was put among tabs or taken out
    void setTitleNote(const QString& note);  ///< `2 errors`, after the title

signals:
    void contentMade(QWidget* content);
    void exportRequested(orrery::ui::ResultView* view);
    void copyRequested(orrery::ui::ResultView* view);  ///< its picture, to the clipboard

private:
    void fillMenu();

    Make make_;
    QString title_, meaning_, note_;
    QToolButton* menuButton_;
    QMenu* menu_;
    ui::Label* label_;
    bool made_ = false, held_ = false;
};

}  // namespace orrery::app
