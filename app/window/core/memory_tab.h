#pragma once

// Requests through a DRAM channel: memory, pattern, mapping and injection at the left; every command of every bank, and
// what the data bus waited for.

#include "app/document/background.h"
#include "app/window/core/memory_run.h"
#include "app/window/core/write_figure.h"

#include <QVariantMap>
#include <QWidget>

#include <optional>

class QCheckBox;
class QComboBox;
class QFormLayout;
class QProgressBar;
class QPushButton;
class QSpinBox;

namespace orrery::ui {
class BarList;
class Label;
class Veil;
}  // namespace orrery::ui

namespace orrery::app {

class MemoryTab : public QWidget {
    Q_OBJECT
public:
    explicit MemoryTab(QWidget* parent = nullptr);
    ~MemoryTab() override;

    MemoryQuestion question() const;
    void setQuestion(const MemoryQuestion& question);
    const std::optional<MemoryAnswer>& answer() const { return answer_; }
    const std::optional<Diagnostic>& refusal() const { return refusal_; }
    bool isRunning() const { return work_.isRunning() || soon_.isActive(); }
    ui::CommandTimeline* timeline() const { return timeline_; }
    ui::BarList* bindings() const { return bindings_; }
    ui::BarList* bounds() const { return bounds_; }
    ui::BarList* energy() const { return energy_; }
    QVariantMap kept() const;
    void setKept(const QVariantMap& view);

signals:
    void exportWanted(const QString& title, const QString& name, const QString& filter,
                      const orrery::app::WriteFigure& write);

protected:
    void showEvent(QShowEvent* event) override;

private:
    QWidget* buildForm(QWidget* parent);
    QWidget* buildAnswer(QWidget* parent);
    void chooseFile(QString& into, const QString& title, const QString& filter);
    void showCurrents(const QString& chosen);
    void chooseCurrents(int at);
    void showRows();
    void changed();
    void run();
    void take(Expected<MemoryAnswer>&& found);
    void show(const MemoryAnswer& answer);
    void tell();

    std::optional<MemoryQuestion> asked_;
    std::optional<MemoryAnswer> answer_;
    std::optional<Diagnostic> refusal_;
    QString config_, trace_;
    QString chosenCurrents_;  ///< id or file; empty: those of the device
    QFormLayout* form_ = nullptr;
    QComboBox *memory_ = nullptr, *pattern_ = nullptr, *mapping_ = nullptr, *injection_ = nullptr, *page_ = nullptr,
              *currents_ = nullptr;
    QPushButton *configFile_ = nullptr, *traceFile_ = nullptr, *export_ = nullptr, *cancel_ = nullptr;
    QSpinBox *requests_ = nullptr, *stride_ = nullptr, *writes_ = nullptr;
    QCheckBox* refresh_ = nullptr;
    QProgressBar* progress_ = nullptr;
    ui::Label *headline_ = nullptr, *sub_ = nullptr, *problem_ = nullptr, *unlike_ = nullptr;
    ui::CommandTimeline* timeline_ = nullptr;
    ui::BarList *bindings_ = nullptr, *bounds_ = nullptr, *energy_ = nullptr;
    ui::Veil* veil_ = nullptr;
    QTimer soon_;
    Background work_;
};

}  // namespace orrery::app
