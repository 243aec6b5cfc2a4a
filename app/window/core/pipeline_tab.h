#pragma once

// A kernel in an out-of-order pipeline: core, kernel and sizes at the left; a stretch of the run, operation by
// operation, what limited the run, and how busy its ports were.

#include "app/document/background.h"
#include "app/window/core/pipeline_run.h"
#include "app/window/core/write_figure.h"

#include <QVariantMap>
#include <QWidget>

#include <optional>

class QComboBox;
class QFormLayout;
class QLabel;
class QProgressBar;
class QPushButton;
class QScrollArea;
class QSlider;
class QSpinBox;

namespace orrery::ui {
class BarList;
class IconButton;
class Label;
class Veil;
}  // namespace orrery::ui

namespace orrery::app {

class PipelineTab : public QWidget {
    Q_OBJECT
public:
    explicit PipelineTab(QWidget* parent = nullptr);
    ~PipelineTab() override;

    void setDesign(HardwarePtr design);  ///< whose core `drawn` means
    /// `gemm m=64 n=64 k=64 avx2`; refuses what readKernel() refuses.
    Expected<void> setKernel(const std::string& text);
    PipelineQuestion question() const;
    const std::optional<PipelineAnswer>& answer() const { return answer_; }
    const std::optional<Diagnostic>& refusal() const { return refusal_; }
    bool isRunning() const { return work_.isRunning() || soon_.isActive(); }
    ui::PipelineView* view() const { return view_; }
    ui::BarList* causes() const { return causes_; }
    ui::BarList* ports() const { return ports_; }
    ui::BarList* cores() const { return each_; }  ///< hidden while one runs
    QString command() const;                      ///< that asks the same on the command line; empty: nothing is asked
    void play(bool on);
    QVariantMap kept() const;
    void setKept(const QVariantMap& view);

signals:
    void exportWanted(const QString& title, const QString& name, const QString& filter,
                      const orrery::app::WriteFigure& write);

protected:
    void showEvent(QShowEvent* event) override;
    void hideEvent(QHideEvent* event) override;

private:
    QWidget* buildForm(QWidget* parent);
    void buildCores(QWidget* side);
    QWidget* buildAnswer(QWidget* parent);
    QWidget* buildPlayer(QWidget* parent);
    void fillSets();
    void showSizes();
    void showCores();
    std::string kernelText() const;
    void changed();
    void run();
    void take(Expected<PipelineAnswer>&& found);
    void show(const PipelineAnswer& answer);
    void showEach(const CoresAnswer& several);
    void tell();

    struct Size {
        QLabel* name = nullptr;
        QSpinBox* value = nullptr;
    };
    HardwarePtr design_;
    std::optional<PipelineQuestion> asked_;  ///< of the run under way, or of what is shown
    std::optional<PipelineAnswer> answer_;
    std::optional<Diagnostic> refusal_;
    QComboBox *core_ = nullptr, *kernel_ = nullptr, *set_ = nullptr;
    std::vector<Size> sizes_;
    QSlider* place_ = nullptr;
    QSpinBox *rows_ = nullptr, *speed_ = nullptr, *number_ = nullptr;
    QComboBox *bind_ = nullptr, *pages_ = nullptr;
    QFormLayout* form_ = nullptr;
    ui::Label *headline_ = nullptr, *sub_ = nullptr, *problem_ = nullptr, *cycle_ = nullptr, *where_ = nullptr;
    QProgressBar* progress_ = nullptr;
    QPushButton *cancel_ = nullptr, *export_ = nullptr, *command_ = nullptr;
    ui::IconButton *back_ = nullptr, *play_ = nullptr, *step_ = nullptr;
    ui::PipelineView* view_ = nullptr;
    ui::BarList *causes_ = nullptr, *ports_ = nullptr, *each_ = nullptr;
    QScrollArea* eachPane_ = nullptr;
    ui::Veil* veil_ = nullptr;
    QTimer soon_, frame_;
    Background work_;
};

}  // namespace orrery::app
