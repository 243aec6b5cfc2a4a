#pragma once

// The GPU document: one kernel on the drawn GPU, every warp of one multiprocessor cycle by cycle, and beside it the
// same on a changed design or another kernel. What answers an earlier question is dimmed and says so.

#include "app/document/background.h"
#include "app/window/gpu/gpu_question.h"
#include "app/window/page.h"
#include "widgets/common/snapshot.h"

#include <QTimer>

#include <array>

class QComboBox;
class QProgressBar;
class QPushButton;
class QSpinBox;
class QSplitter;
class QStackedLayout;
class QTabWidget;
class QToolButton;

namespace orrery::ui {
class ActivityHeat;
class CellsTable;
class CycleStackView;
class EmptyPage;
class Label;
class Veil;
class WarpTimeline;
}  // namespace orrery::ui

namespace orrery::app {

class CountersTab;
class OccupancyTab;
class PageHead;

class GpuPage : public Page {
    Q_OBJECT
public:
    GpuPage(Studio& studio, QWidget* parent);
    ~GpuPage() override;

    PageCard card() const override;
    void join(Studio& studio) override;
    std::vector<MenuPart> menus() override;
    bool accepts(const OpenFile& file) const override;
    std::vector<FileFilter> filters() const override;
    void open(const QString& path) override;
    std::vector<ui::PaletteEntry> findable() override;
    bool showsAnswer() const override { return answer_.has_value() && !late(); }
    Expected<QStringList> report(const QString& folder) override;
    void saveView(QSettings& settings) const override;
    void restoreView(const QSettings& settings) override;

    void setKernel(const QString& kernel);
    void run();
    void stop();
    bool isBusy() const override { return work_.isRunning(); }
    bool late() const;  ///< what is shown answers another question than the one that is asked
    const std::optional<GpuAnswer>& answer() const { return answer_; }
    QTabWidget* tabs() const { return tabs_; }  ///< this and the views: null until the page was seen
    ui::WarpTimeline* timeline(int which) const { return timelines_[static_cast<std::size_t>(which)]; }
    ui::CellsTable* instructions() const { return table_; }
    OccupancyTab* occupancy() const { return occupancy_; }
    CountersTab* counters() const { return counters_; }

    /// The view in front by the file's ending: SVG, PDF, PNG, CSV, TEX, and JSON (the trace) of the warps. What went
    /// wrong; empty if nothing.
    QString exportView(const QString& file) const;

protected:
    void build() override;
    void showEvent(QShowEvent* event) override;

private:
    QWidget* buildForm(QWidget* parent);
    QWidget* buildWarps(QWidget* parent);
    QWidget* buildActivity(QWidget* parent);
    QWidget* buildInstructions(QWidget* parent);
    void fillKernels();
    std::string operatorAsked() const;  ///< name of the one operator that the project asks for; empty: none
    void takeKernelOfQuestion();
    void follow();  ///< the document's design
    void asked();   ///< the form has changed
    void forget();  ///< another project
    GpuQuestion question() const;
    void take(Expected<GpuAnswer>&& answer);
    void showRuns();
    void showTable();
    void showLate();
    void refuse(const Diagnostic& why);
    void play(bool on);
    void exportAs();
    QString exportTable(const QString& file) const;

    Studio& studio_;
    std::optional<GpuAnswer> answer_;
    std::optional<Diagnostic> refusal_;
    QString kernel_;  ///< text of the form; before it is built too
    int tab_ = 0;
    std::vector<std::string> traces_;  ///< files of kernels that were opened
    bool stale_ = true, ranOnce_ = false;
    bool replaced_ = true;         ///< nothing of the open project was looked at yet
    bool awaitsOperator_ = false;  ///< the project asks for an operator, whose kernel comes with the workload

    QStackedLayout* stack_ = nullptr;
    ui::EmptyPage* empty_ = nullptr;
    PageHead* head_ = nullptr;
    QProgressBar* progress_ = nullptr;
    QPushButton *run_ = nullptr, *export_ = nullptr;
    QComboBox *kernels_ = nullptr, *others_ = nullptr, *change_ = nullptr, *factor_ = nullptr, *sample_ = nullptr;
    QSpinBox* budget_ = nullptr;
    QTabWidget* tabs_ = nullptr;
    std::array<ui::WarpTimeline*, 2> timelines_{};
    std::array<ui::ActivityHeat*, 2> heats_{};
    QToolButton *play_ = nullptr, *back_ = nullptr, *forward_ = nullptr, *busiest_ = nullptr, *all_ = nullptr;
    ui::Label* cursor_ = nullptr;
    ui::CycleStackView* stackView_ = nullptr;
    ui::CellsTable* table_ = nullptr;
    QComboBox* tableOf_ = nullptr;
    OccupancyTab* occupancy_ = nullptr;
    CountersTab* counters_ = nullptr;
    ui::Veil* veil_ = nullptr;
    QTimer frame_;
    Background work_;  ///< last: stops before what it delivers to goes
};

}  // namespace orrery::app
