#pragma once

// The methods of the project as a list that stays open: ticked ones answer, each row says what, or why not.

#include "app/document/background.h"
#include "app/window/methods/method_probe.h"

#include <QTimer>
#include <QWidget>

#include <functional>
#include <map>

class QCheckBox;
class QLineEdit;
class QPushButton;

namespace orrery::ui {
class Label;
class SectionHeader;
}  // namespace orrery::ui

namespace orrery::app {

class Studio;

class MethodsPanel : public QWidget {
    Q_OBJECT
public:
    MethodsPanel(Studio& studio, QWidget* parent);

    bool isBusy() const { return probing_.isRunning() || soon_.isActive(); }
    /// Adds every method that answers on each edit and would answer this question.
    void chooseAllThatApply();
    QCheckBox* box(const QString& id) const;  ///< null: no such row
    QString said(const QString& id) const;    ///< below its name

protected:
    void showEvent(QShowEvent* event) override;

private:
    struct Row {
        QWidget* whole = nullptr;
        QCheckBox* box = nullptr;
        ui::Label* said = nullptr;
        int group = 0;
    };

    void build();
    void addRow(const MethodCard& card, QWidget* into);
    void follow();  ///< the document: which are ticked
    void probe();
    void showStandings();
    void filter(const QString& typed);
    void set(const QString& id, bool on);
    void setMethods(std::vector<std::string> methods);
    const MethodStanding* standingOf(const std::string& id) const;

    Studio& studio_;
    std::map<QString, Row> rows_;
    std::vector<ui::SectionHeader*> groups_;
    std::vector<MethodStanding> standings_;
    std::function<void()> afterProbe_;  ///< asked for while the answers were on their way
    QLineEdit* search_ = nullptr;
    QPushButton *all_ = nullptr, *none_ = nullptr;
    ui::Label* count_ = nullptr;
    QTimer soon_;
    bool stale_ = true;
    Background probing_;  ///< last
};

void addMethodsDock(Studio& studio);

}  // namespace orrery::app
